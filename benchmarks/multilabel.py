"""Accuracy, time and memory of multi-label solvers on rows of a person's own, beside the paper's figures for bibtex.

python benchmarks/multilabel.py DIR [--seeds 3] [--only TEXT]

DIR holds bibtex-train.arff, bibtex-test.arff and bibtex.xml. Weights and iterations of trace norms, svm and LEML's
losses of signs were chosen by precision@3 on a fifth of the training rows. For each setting: mean over seeds (of the
random start, and of which labels are seen) of precision@3, Hamming loss and AUC after the given iterations, and
seconds. Then the time of leml-squared with rank 64 over 5 iterations as a multiple of scikit-learn's Ridge on the same
matrices, taken in turns, and the peak memory of a process that does nothing else.
"""

import argparse
import itertools
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lrlab import catalog
from lrlab.data import rows
from lrlab.models.label_rows import scattered
from lrlab.models.multilabel_problem import MultilabelProblem
from lrlab.parameters import settle
from lrlab.protocol import Iterate

TIMED = 5
RANK = 64


class Setting(NamedTuple):
    """A solver with its options: rank over labels, share seen, iterations; the paper's precision@3 and AUC."""

    solver: str
    share: float
    observed: float
    iterations: int
    options: dict[str, Any]
    paper: str = ""

    @property
    def title(self) -> str:
        """The setting in a line."""
        options = " ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.solver:<19}k={self.share:.1f}L seen={self.observed:.1f} {options}"


FROBENIUS = {"penalty": "frobenius"}
SIGNS = {
    ("leml-logistic", 0.2, 10.0): "25.65 .8677",
    ("leml-logistic", 0.4, 1.0): "28.20 .8809",
    ("leml-logistic", 0.6, 1.0): "28.68 .8861",
    ("leml-squared-hinge", 0.2, 10.0): "27.37 .8541",
    ("leml-squared-hinge", 0.4, 1.0): "24.81 .8467",
    ("leml-squared-hinge", 0.6, 1.0): "23.26 .8505",
}
CPLST = {0.2: "31.99 .8657", 0.4: "34.53 .8802", 0.6: "36.01 .8854"}
SETTINGS = (
    Setting("leml-squared", 0.2, 1.0, 5, {"regularization": 1.0}, "34.16 .8910"),
    Setting("leml-squared", 0.4, 1.0, 5, {"regularization": 1.0}, "36.53 .9015"),
    Setting("leml-squared", 0.6, 1.0, 5, {"regularization": 1.0}, "38.00 .9040"),
    Setting("leml-squared", 0.6, 1.0, 5, {"regularization": 15.0, "inner": "exact"}, "38.00 .9040"),
    Setting("leml-squared", 0.6, 1.0, 5, {"regularization": 60.0, **FROBENIUS}, "38.00 .9040"),
    Setting("leml-squared", 0.4, 0.2, 5, {"regularization": 10.0}, "28.50 .8332"),
    Setting("leml-squared", 0.4, 0.2, 5, {"regularization": 30.0, **FROBENIUS}, "28.50 .8332"),
    *(Setting(name, share, 1.0, 5, {"regularization": w}, paper) for (name, share, w), paper in SIGNS.items()),
    Setting("leml-logistic", 0.4, 0.2, 5, {"regularization": 10.0}, "25.79 .8392"),
    Setting("leml-squared-hinge", 0.4, 0.2, 5, {"regularization": 10.0}, "18.97 .7813"),
    *(Setting("cplst", share, 1.0, 1, {}, paper) for share, paper in CPLST.items()),
    *(Setting("cplst", share, 1.0, 1, {"centred": True}, paper) for share, paper in CPLST.items()),
    Setting("cplst", 0.6, 1.0, 1, {"regularization": 60.0}, "36.01 .8854"),
    Setting("plst", 0.6, 1.0, 1, {"regularization": 60.0}),
    Setting("binary-relevance", 1.0, 1.0, 1, {"regularization": 60.0}),
    Setting("binary-relevance", 1.0, 0.2, 3, {"regularization": 30.0}, "25.78 .8087"),
    Setting("binary-relevance", 1.0, 1.0, 99, {"regularization": 1.0, "loss": "logistic"}),
    Setting("binary-relevance", 1.0, 0.2, 99, {"regularization": 2.0, "loss": "logistic"}, "31.92 .8941"),
    Setting("binary-relevance", 1.0, 1.0, 99, {"regularization": 10.0, "loss": "squared-hinge"}),
    Setting("binary-relevance", 1.0, 0.2, 99, {"regularization": 10.0, "loss": "squared-hinge"}, "29.56 .8378"),
    Setting("trace-norm-squared", 1.0, 1.0, 51, {"regularization": 3.0}),
    Setting("trace-norm-squared", 1.0, 0.2, 24, {"regularization": 3.0}),
    Setting("trace-norm-logistic", 1.0, 1.0, 30, {"regularization": 3.0}),
    Setting("trace-norm-logistic", 1.0, 0.2, 30, {"regularization": 10.0}),
    Setting("svm", 1.0, 1.0, 99, {"regularization": 30.0}),
    Setting("svm", 1.0, 0.2, 99, {"regularization": 30.0}),
)


def read(folder: Path) -> tuple[Any, Any, Any, Any]:
    """Return features and labels of training and test rows."""
    given, test = (rows.read(folder / f"bibtex-{part}.arff", folder / "bibtex.xml") for part in ("train", "test"))
    return given.X, given.Y, test.X, test.Y


def problem(tables: tuple[Any, Any, Any, Any], rank: int, observed: float, seed: int) -> MultilabelProblem:
    """Return the problem with a share of the labels seen."""
    X, Y, X_test, Y_test = tables
    mask = None if observed == 1 else scattered(np.random.default_rng(seed), Y.shape, observed)
    return MultilabelProblem.of(X, Y, mask, X_test, Y_test, rank)


def fitted(
    rows: MultilabelProblem, name: str, iterations: int, seed: int, options: dict[str, Any]
) -> tuple[Iterate, float]:
    """Return the last iterate and the seconds that it took."""
    run = catalog.solver(name, "multilabel").run
    started = time.perf_counter()
    solution = run(rows, rng=np.random.default_rng(seed), **settle(run, options))
    *_, last = itertools.islice(solution, iterations)
    return last, time.perf_counter() - started


def report(tables: tuple[Any, Any, Any, Any], setting: Setting, seeds: int) -> None:
    """Print a line."""
    scores = []
    for seed in range(seeds):
        rows = problem(tables, max(1, round(setting.share * tables[1].shape[1])), setting.observed, seed)
        last, seconds = fitted(rows, setting.solver, setting.iterations, seed, setting.options)
        scores.append({**rows.score(last.estimate), "seconds": seconds})
    mean = {name: statistics.mean(row[name] for row in scores) for name in scores[0]}
    least = 100 * min(row["precision_3"] for row in scores)
    print(
        f"{setting.title:<76}{100 * mean['precision_3']:6.2f} (least {least:5.2f}){mean['hamming']:8.4f}"
        f"{mean['auc']:7.4f}{mean['seconds']:7.2f} s   {setting.paper}",
        flush=True,
    )


def compare(tables: tuple[Any, Any, Any, Any]) -> None:
    """Print times beside those of scikit-learn."""
    # Not at the top: it would count towards the memory of a fit, which does without.
    from sklearn.linear_model import Ridge

    rows = problem(tables, RANK, 1.0, 0)
    Y = rows.Y.toarray()
    rivals = {
        "Ridge()": Ridge(),
        "Ridge(solver='cholesky', fit_intercept=False)": Ridge(solver="cholesky", fit_intercept=False),
    }
    times: dict[str, list[float]] = {name: [] for name in ("ours", *rivals)}
    for _ in range(TIMED):
        times["ours"].append(fitted(rows, "leml-squared", 5, 0, {})[1])
        for name, model in rivals.items():
            started = time.perf_counter()
            model.fit(rows.X, Y)
            times[name].append(time.perf_counter() - started)
    print(f"leml-squared, k={RANK}, 5 iterations: {statistics.median(times['ours']):.2f} s")
    for name in rivals:
        ratio = statistics.median(own / other for own, other in zip(times["ours"], times[name], strict=True))
        print(f"  scikit-learn's {name}: {statistics.median(times[name]):.2f} s; ours over it: {ratio:.2f}")


def alone(folder: Path) -> None:
    """Fit once, and print the peak memory of this process."""
    fitted(problem(read(folder), RANK, 1.0, 0), "leml-squared", 5, 0, {})
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="only settings whose line contains this")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.memory:
        alone(given.folder)
        return
    tables = read(given.folder)
    print("precision@3 (least of the seeds), Hamming loss, AUC, seconds; the paper's precision@3 and AUC")
    for setting in SETTINGS:
        if given.only in setting.title:
            report(tables, setting, given.seeds)
    if not given.only:
        compare(tables)
        subprocess.run([sys.executable, __file__, str(given.folder), "--memory"], check=True)


if __name__ == "__main__":
    main()
