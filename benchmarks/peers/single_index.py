"""Single-index models: statsmodels and scikit-learn, which are given the link, L-BFGS by PyTorch, and abess."""

from typing import Any

import numpy as np

from benchmarks.peers.frame import Contest, Entrant, loaded, ours
from lrlab import catalog
from lrlab.arrays import Array
from lrlab.models.single_index import SingleIndexProblem

TITLE = "single-index models"
DISTRIBUTIONS = ("scikit-learn", "statsmodels", "abess", "torch")
WIDTH = 0.1
POWER_STEPS = 100


def statsmodels_probit(problem: SingleIndexProblem) -> Array:
    """Maximum likelihood with an intercept by statsmodels' Newton iterations."""
    import statsmodels.api as sm

    return sm.Probit(problem.y > 0, sm.add_constant(problem.X)).fit(disp=0).params[1:]


def sklearn_logistic(problem: SingleIndexProblem) -> Array:
    """Logistic regression without a penalty, by L-BFGS, scikit-learn's default."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=np.inf, max_iter=1000).fit(problem.X, problem.y).coef_[0]


def abess_logistic(problem: SingleIndexProblem) -> Array:
    """Best subset of as many entries as there are, by splicing."""
    from abess.linear import LogisticRegression

    model = LogisticRegression(support_size=[problem.sparsity], thread=1)
    return model.fit(problem.X, (problem.y > 0).astype(int)).coef_.ravel()


def torch_phase(problem: SingleIndexProblem) -> Array:
    """Likelihood of the answers smoothed to a width of .1 by L-BFGS, from an eigenvector of the mean of y x x^T."""
    import torch

    X, y = torch.tensor(problem.X), torch.tensor(problem.y)
    threshold = float(problem.spec.values()["threshold"])
    b = torch.linalg.eigh((X.T * (y - y.mean())) @ X)[1][:, -1].clone().requires_grad_()
    solver = torch.optim.LBFGS([b], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> Any:
        solver.zero_grad()
        z = X @ (b / b.norm())
        upper, lower = ((side * z - threshold) / WIDTH for side in (1.0, -1.0))
        chance = (torch.special.ndtr(upper) + torch.special.ndtr(lower)).clamp(1e-12, 1.0 - 1e-12)
        loss = -torch.where(y > 0, chance.log(), torch.log1p(-chance)).mean()
        loss.backward()
        return loss

    solver.step(closure)
    return b.detach().numpy()


def error(problem: SingleIndexProblem, estimate: Array) -> float:
    """Return the sign-free distance of unit vectors."""
    return problem.score(estimate)["error"]


PROBIT = Entrant("statsmodels Probit", statsmodels_probit, "statsmodels.api")
LOGISTIC = Entrant("scikit-learn logistic", sklearn_logistic, "sklearn.linear_model")
ABESS = Entrant("abess", abess_logistic, "abess.linear")
TORCH = Entrant("PyTorch L-BFGS", torch_phase, "torch")
LINK_FREE = ours("link-free-refinement")


def sparse(noise: float) -> Contest:
    """Return the comparison on sparse signals with as many answers as entries."""
    spec = catalog.spec("one-bit-sensing", n=1000, p=1000, sparsity=10, noise=noise)
    name, target = f"sparse one-bit sensing p=n=1000 s=10 noise {noise:.3g}", "link-free as accurate and fast as abess"
    return Contest(name, loaded(spec), error, (LINK_FREE,), (ABESS,), target)


CONTESTS = (
    Contest(
        "one-bit sensing n=3000 p=20 noise 0.1",
        loaded(catalog.spec("one-bit-sensing", noise=0.1)),
        error,
        (LINK_FREE, ours("logistic"), ours("probit")),
        (PROBIT, LOGISTIC),
        "link-free as fast as Probit, logistic as fast as scikit-learn's",
        {"link-free-refinement": LOGISTIC.name, "logistic": LOGISTIC.name},
    ),
    Contest(
        "one-bit phase retrieval n=3000 p=20 t=1",
        loaded(catalog.spec("one-bit-phase-retrieval")),
        error,
        (LINK_FREE, ours("gamp")),
        (TORCH,),
        "gamp more accurate, link-free within 3 times PyTorch",
    ),
    sparse(0.1),
    sparse(0.316228),
)
