"""What low-rank solvers reach, and what they cost: python benchmarks/low_rank.py [--large] [--seeds 5].

Accuracies are medians over seeds; costs are ratios of solver times within this run, medians over repeats. --large adds
the network of 1,000 inputs and 75,000 samples (600 MB, minutes) and prints the process's peak memory over the data.
"""

import argparse
import resource
import statistics
import sys

import lrlab

FINAL = (
    # model, parameters, solver, settings, measure
    ("rank-one-sensing", {"m": 1000}, "altmin", {"max_iter": 30}, "error"),
    ("rank-one-sensing", {"m": 2000}, "altmin", {"max_iter": 30}, "error"),
    ("rank-one-sensing", {"m": 2000, "operator": "dense"}, "altmin", {"max_iter": 30}, "error"),
    ("rank-one-sensing", {"m": 700}, "gauss-newton", {}, "error"),
    ("rank-one-sensing", {"m": 3000, "condition": 1000}, "gauss-newton", {}, "error"),
    ("rank-one-sensing", {"m": 3000, "condition": 1000}, "scaled-gradient", {}, "error"),
    ("polynomial-network", {"m": 8500}, "ep-rom", {"step_rule": "fixed", "max_iter": 60}, "spectral_error"),
    ("polynomial-network", {"m": 8500}, "ap-rom", {"step_rule": "fixed", "max_iter": 60}, "spectral_error"),
    ("polynomial-network", {"m": 8500}, "gfm", {"step_rule": "fixed", "max_iter": 60}, "spectral_error"),
    ("polynomial-network", {"m": 1500}, "ep-rom", {}, "spectral_error"),
    ("polynomial-network", {"m": 1500}, "tangent-descent", {"max_iter": 150}, "error"),
    ("polynomial-network", {"m": 1250}, "gauss-newton", {"max_iter": 15}, "error"),
    ("inductive-completion", {"observed": 0.01}, "altmin", {}, "error"),
    ("inductive-completion", {"observed": 0.01}, "gauss-newton", {}, "error"),
    ("inductive-completion", {"observed": 0.01, "features": "canonical"}, "als", {}, "error"),
    ("phase-retrieval", {}, "gauss-newton", {}, "error"),
    ("phase-retrieval", {}, "reweighted-amplitude-flow", {}, "error"),
)


def accuracies(seeds: int) -> None:
    """Print the median and the worst score, iterations and solver time of every row of FINAL."""
    print(f"{'median':>9} {'worst':>9} {'iterations':>10} {'seconds':>8}")
    for model, values, solver, settings, measure in FINAL:
        traces = [lrlab.solve(lrlab.spec(model, seed=k, **values), solver, **settings) for k in range(seeds)]
        scores = [trace.metrics[measure] for trace in traces]
        lengths = statistics.median(len(trace.rows) for trace in traces)
        seconds = statistics.median(trace.rows[-1]["seconds"] for trace in traces)
        what = " ".join(f"{k}={v}" for k, v in {**values, **settings}.items())
        line = f"{statistics.median(scores):9.1e} {max(scores):9.1e} {lengths:10.0f} {seconds:8.3f}"
        print(f"{line}  {measure} of {solver} on {model} {what}", flush=True)


def dense_over_rank_one(repeats: int) -> None:
    """Print how much longer alternating minimisation takes with dense measurements."""
    for inner in ("auto", "exact"):
        ratios = []
        for k in range(repeats):
            spec = lrlab.spec("rank-one-sensing", m=2000, seed=k)
            times = [
                lrlab.solve(spec.replace(operator=operator), "altmin", max_iter=30, inner=inner).rows[-1]["seconds"]
                for operator in ("gaussian", "dense")
            ]
            ratios.append(times[1] / times[0])
        print(f"dense over rank-one, d=50, m=2000, altmin inner={inner}: {statistics.median(ratios):.1f} times as long")


def large() -> None:
    """Print when solvers reach an error at p=1000, m=75000."""
    spec = lrlab.spec("polynomial-network", p=1000, r=5, m=75_000, signs="positive")
    reached = {}
    for solver, level, settings in (
        ("tangent-descent", 1e-4, {}),
        ("ap-rom", 1e-2, {"step_rule": "fixed"}),
        ("ap-rom", 1e-2, {}),
        ("ap-rom", 1e-2, {"blocks": 2}),
        ("ep-rom", 1e-2, {"step_rule": "fixed"}),
    ):
        trace = lrlab.solve(spec, solver, max_iter=15, max_seconds=900, **settings)
        seconds_to_level = next((row["seconds"] for row in trace.rows if row["spectral_error"] < level), float("nan"))
        total = trace.rows[-1]["seconds"]
        what = f"{solver} {settings or ''}"
        reached[what] = seconds_to_level
        print(
            f"{what}: {level:g} after {seconds_to_level:.2f} s; {len(trace.rows)} iterations in {total:.1f} s",
            flush=True,
        )
        if len(reached) == 1:
            unit = 1 if sys.platform == "darwin" else 1024
            peak = unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            print(f"peak memory of the process so far: {peak / spec.data_bytes:.2f} times the data")
    first, *others = reached.items()
    for name, seconds in others:
        print(f"{name} to 1e-2 over {first[0]}to 1e-4: {seconds / first[1]:.1f}")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    if options.large:
        large()
    accuracies(options.seeds)
    dense_over_rank_one(options.seeds)


if __name__ == "__main__":
    main()
