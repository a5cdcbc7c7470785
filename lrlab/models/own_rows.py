"""Rows of a person's own: read where the job runs, hidden in part, held out in part, scored on both sides."""

import base64
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array

from lrlab import datasets, ranking
from lrlab.arrays import Array, Matrix
from lrlab.datasets import Dataset
from lrlab.models.label_rows import LabelRows, drawn_pattern
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import MultilabelProblem, Predictor, measured, only_observed
from lrlab.models.scaling import MEANING, SCALINGS, Scaling
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Checkpoint, proceed

PACKED = "data:;base64,"
"""How a text begins that is a file itself; any other one is a path."""
FOLDS = 5
"""Parts into which rows are divided, of which one is held out at a time."""
SAMPLE = 2000
"""Most training rows on which scores are told."""

AS_IS = Scaling()

OwnThresholds = tuple[tuple[int, float], ...]
"""Labels, by their places, with a threshold of their own."""

File = Annotated[str, Parameter(meaning="path of an .npz file of rows, or the file itself as text", hidden=True)]


@dataclass(frozen=True, kw_only=True)
class OwnRows(LabelRows):
    """Rows in two .npz files, which `datasets.save_npz` has written; n, d, labels, density say what is in the first.

    `kept` of the known training labels are drawn with the seed, the rest is hidden; `observed` is the share of the
    label table that is seen after that.
    """

    model = Multilabel.model
    title = "Own data"
    summary = "Rows with features and labels from a person's own files."
    watched = False

    train: File = ""
    test: File = ""
    test_rows: Annotated[int, Parameter(meaning="number of rows in the second file", low=0, high=1e9, hidden=True)] = 0
    per_row: Annotated[int, Parameter(meaning="labels of a row that are on, about", low=0, high=1e9, hidden=True)] = 1
    kept: Annotated[float, Parameter(meaning="share of the known labels that is kept", low=1e-4, high=1)] = 1.0
    intercept: Annotated[bool, Parameter(meaning="whether each label has an intercept, which nothing penalises")] = True
    scaling: Annotated[str, Parameter(meaning=MEANING, choices=SCALINGS)] = "auto"
    threshold: Annotated[str, Parameter(meaning="scores above which labels are predicted, as JSON", hidden=True)] = ""

    @property
    def data_bytes(self) -> int:
        """Memory of the rows, of their labels, and of a block of scores."""
        rows = self.n + self.test_rows
        return int(2 * self.held_bytes * rows / self.n) + 16 * rows * (1 + min(self.labels, 32)) + 2**26

    @property
    def memory_advice(self) -> str:
        """Fewer rows."""
        return "leave out features that hardly occur"

    def build(self, checkpoint: Checkpoint = proceed) -> "OwnProblem":
        """Read both files."""
        with stored(self.test) as test:
            given = self._given()
            return self._problem(given, datasets.read(test, like=given))

    def held_out(self, count: int) -> list["OwnProblem"]:
        """Read the first file, and return problems of learning from it without the first so many of its `folds`."""
        return [self._problem(*pair) for pair in folds(self._given(), count, self.seed)]

    def _given(self) -> Dataset:
        with stored(self.train) as train:
            return hide(datasets.read(train), self.kept, self.seed)

    def _problem(self, given: Dataset, fresh: Dataset) -> "OwnProblem":
        scaling = Scaling.of(given.X, self.scaling)
        problem = OwnProblem.between(given, fresh, self.rank, intercept=self.intercept, scaling=scaling)
        problem.sample = np.unique(np.linspace(0, given.n - 1, min(SAMPLE, given.n)).round().astype(int))
        problem.threshold, problem.own, _ = self.thresholds
        return problem

    @property
    def thresholds(self) -> tuple[float | None, OwnThresholds, tuple[float, ...]]:
        """The threshold of all labels, None for the solver's, those of single ones, and the calibration of scores."""
        common, own, calibration = json.loads(self.threshold or "[null, [], []]")
        return common, tuple((int(label), float(value)) for label, value in own), tuple(calibration)


class OwnProblem(MultilabelProblem):
    """A person's rows: labels of test rows may be unknown, too, and do not count then; training rows are scored, too.

    Attributes, beside those of MultilabelProblem: mask_test (n_test, L), the pattern of test labels that are known, or
    None where all are; sample: places of the training rows on which scores are told as `train_...`; intercept: whether
    predictors have an intercept for each label; scaling: that of X and X_test, which are scaled; threshold: the score
    above which a label is predicted, None for the estimate's own; own: labels with a threshold of their own.
    """

    mask_test: csr_array | None = None
    sample = np.empty(0, dtype=int)
    intercept = True
    scaling = AS_IS
    threshold: float | None = None
    own: OwnThresholds = ()

    @classmethod
    def between(
        cls, given: Dataset, fresh: Dataset, rank: int, *, intercept: bool = True, scaling: Scaling = AS_IS
    ) -> "OwnProblem":
        """Return the problem of learning from `given` what `fresh` says."""
        X, X_test = (scaling.applied(data.X) for data in (given, fresh))
        problem = cls.of(X, given.Y, given.observed, X_test, fresh.Y, rank)
        problem.mask_test, problem.intercept, problem.scaling = fresh.observed, intercept, scaling
        return problem

    def score(self, estimate: Predictor) -> dict[str, float]:
        """Return scores on the test rows, as MultilabelProblem does, and the same on training rows as `train_...`."""
        scores = self._measured(estimate, self.X_test, self.Y_test, self.mask_test)
        if len(self.sample):
            observed = None if self.mask is None else self.mask[self.sample]
            learnt = self._measured(estimate, self.X[self.sample], self.Y[self.sample], observed)
            scores |= {f"train_{name}": value for name, value in learnt.items()}
        return scores

    def _measured(self, estimate: Predictor, X: Matrix, Y: csr_array, known: csr_array | None) -> dict[str, float]:
        """Return scores as `measured` does, labels being predicted above the threshold."""
        scores = measured(estimate, X, Y, known)
        if self.threshold is not None or self.own:
            lead = above(estimate, X, thresholds(estimate, self.threshold, self.own, Y.shape[1]))
            scores["hamming"] = ranking.hamming(lead, Y, 0.0, known)
        return scores

    def areas(self, estimate: Predictor) -> dict[str, float]:
        """Return `micro_auc`, `macro_auc` and `auc_labels`, the number of labels that have test rows of both kinds."""
        both = ranking.areas(estimate.scores(self.X_test), self.Y_test, self.mask_test)
        return {"micro_auc": both.micro, "macro_auc": both.macro.value, "auc_labels": both.macro.count}


def thresholds(estimate: Predictor, common: float | None, own: OwnThresholds, L: int) -> Array:
    """Return the thresholds of all labels (L,): the common one, None for the estimate's, but those of their own."""
    values = np.full(L, estimate.threshold if common is None else common)
    for label, value in own:
        values[label] = value
    return values


def above(estimate: Predictor, X: Matrix, values: Array) -> ranking.Scores:
    """Return scores less thresholds (L,), as a function of a slice of rows."""
    scores = estimate.scores(X)
    return lambda rows: ranking.rows_of(scores, rows) - values


def hide(data: Dataset, share: float, seed: int) -> Dataset:
    """Return the rows with a share of their known labels, drawn without replacement from blocks of rows."""
    if share == 1:
        return data
    drawn = drawn_pattern(np.random.default_rng(seed), data.Y.shape, share)
    known = drawn if data.observed is None else csr_array(drawn.multiply(data.observed))
    return replace(data, Y=only_observed(data.Y, known), observed=known)


def split(data: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset]:
    """Return the rows in two parts, the second of them the share that is held out: drawn with the seed, in order."""
    from sklearn.model_selection import train_test_split

    require_two(data)
    cut = min(max(1, round(share * data.n)), data.n - 1)
    learnt, held = train_test_split(np.arange(data.n), test_size=cut, random_state=seed)
    return data.rows(np.sort(learnt)), data.rows(np.sort(held))


def folds(data: Dataset, count: int, seed: int) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield `count` times the rows in two parts: all but a fifth, drawn with the seed, and that; no fifth twice."""
    # Imported here: drawn problems and presets do without scikit-learn.
    from sklearn.model_selection import KFold

    require_two(data)
    fifths = KFold(min(FOLDS, data.n), shuffle=True, random_state=seed).split(np.arange(data.n))
    for learnt, held in islice(fifths, count):
        yield data.rows(learnt), data.rows(held)


def require_two(data: Dataset) -> None:
    """Raise InputError where no row can be held out."""
    if data.n < 2:
        # The words that scikit-learn's own checks look for.
        raise InputError("rows", "at least 2, for some are held out", f"{data.n} sample", "give more rows")


def packed(path: Path) -> str:
    """Return a file as text that travels with a job."""
    return PACKED + base64.b64encode(path.read_bytes()).decode()


@contextmanager
def stored(text: str) -> Iterator[Path]:
    """Yield the path of a file that is given by its path or by itself."""
    if not text.startswith(PACKED):
        yield Path(text)
        return
    with tempfile.TemporaryDirectory(prefix="lrlab-rows-") as folder:
        path = Path(folder) / "rows.npz"
        path.write_bytes(base64.b64decode(text.removeprefix(PACKED)))
        yield path
