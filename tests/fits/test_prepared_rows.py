"""Intercepts and scaling of people's rows: on by default, kept in the model, and older models without them."""

from itertools import islice

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler, normalize

import lrlab
from lrlab import catalog, datasets
from lrlab.datasets.dataset import Dataset
from lrlab.fits.fitted_model import load_model, save_model
from lrlab.fits.fitting import fit
from lrlab.models.own_rows import OwnProblem
from lrlab.models.scaling import Scaling, deviations
from lrlab.parameters import InputError, settle


@pytest.fixture(scope="module", params=[False, True], ids=["dense", "sparse"])
def files(request, tmp_path_factory):
    """Write rows of features with offsets and units of their own, and return the paths."""
    rng, folder = np.random.default_rng(1003), tmp_path_factory.mktemp("rows")
    X = rng.standard_normal((120, 6)) * 10.0 ** np.arange(-2, 4) + 10.0 ** np.arange(-1, 5)
    Y = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.standard_normal((6, 5)) > np.linspace(-1, 3, 5)
    paths = []
    for part, cut in (("train", slice(0, 80)), ("test", slice(80, 120))):
        paths.append(folder / f"{part}.npz")
        table = csr_array(X[cut]) if request.param else X[cut]
        datasets.save_npz(paths[-1], Dataset(table, csr_array(Y[cut].astype(float))))
    return paths


def dense(X):
    return X.toarray() if issparse(X) else X


@pytest.mark.parametrize(("scaling", "weight"), [("auto", 3.0), ("rows", 0.01), ("none", 3.0)])
def test_models_keep_scaling_and_intercepts(files, tmp_path, scaling, weight):
    found = fit(*files, solver="binary-relevance", scaling=scaling, regularization=weight)
    train, test = (datasets.read(path) for path in files)
    X, X_test, Y = dense(train.X), dense(test.X), train.Y.toarray()
    if scaling == "rows":
        X, X_test = normalize(X), normalize(X_test)
    elif scaling == "auto":
        scaler = StandardScaler(with_mean=False).fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    expected = Ridge(weight).fit(X, Y).predict(X_test)
    assert found.summary()["scaling"] == {"auto": "deviations"}.get(scaling, scaling)
    save_model(tmp_path / "model.npz", found.model)
    for model in (found.model, load_model(tmp_path / "model.npz")):
        assert model.scores(test.X)(slice(None)) == pytest.approx(expected, abs=1e-6)


def test_without_intercepts_scores_are_linear(files):
    found = fit(*files, solver="binary-relevance", scaling="none", intercept=False)
    zero = np.zeros((1, 6))
    assert (found.model.scores(zero)(slice(None)) == 0).all() and found.summary()["intercept"] is False


@pytest.mark.parametrize("table", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_numbers_beside_many_words_lose_their_unit_and_rare_words_stay(table):
    rng = np.random.default_rng(1014)
    words = np.eye(20)[np.minimum(rng.integers(40, size=300), 19)]
    X = np.hstack([3e4 * rng.standard_normal((300, 1)) + 5e4, words])
    scaling = Scaling.of(table(X), "auto")
    assert scaling.name == "deviations" and scaling.units == pytest.approx([X[:, 0].std(), *np.ones(20)])
    assert Scaling.of(table(words), "auto").name == "none"
    every = Scaling.of(table(np.hstack([X[:, :1] - 1e5] * 30 + [words])), "auto")
    assert every.units == pytest.approx([*[X[:, 0].std()] * 30, *words.std(axis=0)])
    Y = csr_array((words[:, :4] + (X[:, :1] > 5e4) > 0).astype(float))
    run, aucs = catalog.solver("leml-logistic", "multilabel").run, []
    for name in ("none", "auto"):
        rows = Dataset(table(X), Y)
        problem = OwnProblem.between(rows, rows, 4, scaling=Scaling.of(rows.X, name))
        estimate = list(islice(run(problem, **settle(run, {}), rng=rng), 5))[-1].estimate
        aucs.append(problem.score(estimate)["auc"])
    assert aucs[1] > aucs[0] + 0.1, aucs


def test_scaling_keeps_rows_sparse_and_constants_as_they_are():
    X = np.array([[1.0, 5.0, 0.0], [3.0, 5.0, 0.0], [5.0, 5.0, 0.0]])
    assert deviations(X) == pytest.approx([np.sqrt(8 / 3), 1, 1])
    for name in ("deviations", "rows"):
        sparse = Scaling.of(csr_array(X), name).applied(csr_array(X))
        assert issparse(sparse) and sparse.toarray() == pytest.approx(Scaling.of(X, name).applied(X))
    assert np.linalg.norm(sparse.toarray(), axis=1) == pytest.approx(1)
    assert Scaling.of(csr_array(X), "rows").applied(csr_array((1, 3))).nnz == 0


@pytest.mark.parametrize(("size", "mean"), [(1e5, 1.7e12), (1e-3, -1e4)])
def test_a_dense_column_far_from_zero_has_its_deviation_and_a_constant_none(size, mean):
    rng = np.random.default_rng(20_041)
    varying, constant = size * rng.standard_normal(2000) + mean, np.full(2000, 0.1 * mean)
    X = np.column_stack([varying, constant])
    assert deviations(X) == pytest.approx([np.std(varying - mean), 1.0])
    assert np.isnan(deviations(X, of_constants=np.nan)[1])


def test_a_time_in_milliseconds_costs_a_fit_nothing():
    rng = np.random.default_rng(20_042)
    X = rng.standard_normal((300, 6))
    Y = (X @ rng.standard_normal((6, 4)) > 0).astype(int)
    late = np.column_stack([1e5 * X[:, 0] + 1.7e12, X[:, 1:]])
    near, far = (lrlab.LabelEstimator("leml-logistic").fit(rows, Y).score(rows, Y) for rows in (X, late))
    assert far == pytest.approx(near, abs=0.02)


@pytest.mark.parametrize(("kind", "solver"), [("Centred", "cplst"), ("Ranked", "wsabie"), ("LowRank", "leml-squared")])
def test_models_of_version_1_are_read(files, tmp_path, kind, solver):
    found = fit(*files, solver=solver, rank=2, scaling="none", intercept=kind == "Centred")
    save_model(tmp_path / "new.npz", found.model)
    arrays = dict(np.load(tmp_path / "new.npz"))
    left_out = {"scaling", "units", *{"Ranked": ["estimate_offset"], "Centred": ["estimate_threshold"]}.get(kind, [])}
    arrays |= {"lrlab_model": np.array(1), "kind": np.array(kind)}
    np.savez(tmp_path / "old.npz", **{name: part for name, part in arrays.items() if name not in left_out})
    test = datasets.read(files[1])
    one, other = (load_model(tmp_path / name) for name in ("new.npz", "old.npz"))
    assert one.predict(test.X, 3) == other.predict(test.X, 3)


@pytest.mark.parametrize("solver", ["binary-relevance", "leml-squared", "leml-logistic", "wsabie", "svm"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_label_that_is_a_value_of_a_nominal_feature_is_fitted_exactly(tmp_path, solver, sparse):
    """The values look like numbers, and the label is the one in the middle, which no line separates."""
    head = "@attribute kind {1,2,3}\n@attribute x numeric\n@attribute y {0,1}\n@attribute z {0,1}\n@data\n"
    rng, lines = np.random.default_rng(1004), []
    for k, x in zip(rng.integers(1, 4, 60), rng.standard_normal(60), strict=True):
        values = [k, x, int(k == 2), int(k == 1)]
        places = [f"{j} {value}" for j, value in enumerate(values) if j == 1 or value != (j == 0)]
        lines.append("{" + ",".join(places) + "}" if sparse else ",".join(map(str, values)))
    (tmp_path / "rows.arff").write_text(head + "\n".join(lines))
    path = tmp_path / "rows.arff"
    settings = {"rate": 0.5} if solver == "wsabie" else {"regularization": 0.01}
    found = fit(path, path, 2, solver=solver, rank=0 if solver == "svm" else 2, iterations=30, **settings)
    assert found.columns.feature_names == ("kind=1", "kind=2", "kind=3", "x")
    assert found.summary()["macro_auc"] == 1
    # A ranking has no place for rows without labels.
    assert solver == "wsabie" or found.summary()["hamming"] == 0


def test_an_unknown_scaling_is_refused(files):
    with pytest.raises(InputError, match=r'scaling must be one of auto, none, .* did you mean "deviations"'):
        fit(*files, scaling="deviation")
