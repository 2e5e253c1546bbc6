"""The estimators by scikit-learn's rules."""

import inspect
import os
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from umagpu import Error, KernelMap, NoisyClassifier, clean

# EVERY=1 has all checks of five learners, with and without a kernel.
CHECKED = [NoisyClassifier(), NoisyClassifier("perceptron"), KernelMap()]
if os.environ.get("EVERY"):
    CHECKED += [NoisyClassifier(learner, kernel=kernel)
                for learner in ("softmax", "uma", "classmean", "perceptron", "pa1")
                for kernel in (None, "rbf")]


def failing(estimator):
    """The checks of scikit-learn 1.6 and later that shuffle rows with weights, and want the model of
    repeated rows in their old order. Sums of vectors do not depend on the order; searches do, and
    online learners, kernel maps and float64 sums of losses."""
    if isinstance(estimator, KernelMap) or (estimator.learner in ("uma", "classmean")
                                            and estimator.kernel is None):
        return {}
    return {f"check_sample_weight_equivalence_on_{form}_data": "the order of the rows matters"
            for form in ("dense", "sparse")}


EXPECTED = {}
if "expected_failed_checks" in inspect.signature(parametrize_with_checks).parameters:
    EXPECTED["expected_failed_checks"] = failing


@parametrize_with_checks(CHECKED, **EXPECTED)
def test_check_estimator(estimator, check):
    check(estimator)


def test_learns_from_noisy_labels(noisy):
    X, y, true, C = noisy
    known = NoisyClassifier(confusion=C).fit(X, y)
    assert known.score(X, true) > 0.93 > 0.9 > NoisyClassifier().fit(X, y).score(X, true)
    assert np.array_equal(known.confusion_, C)
    estimated, cleaned = NoisyClassifier(confusion="estimate").fit(X, y), clean(X, y)
    assert estimated.score(X, true) > 0.92
    assert np.array_equal(estimated.model_, cleaned.model.model_)
    assert np.allclose(estimated.confusion_, cleaned.confusion)
    assert abs(estimated.confusion_ - C).max() < 0.1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("learner", ["softmax", "perceptron", "classmean"])
def test_weights_are_repeats(noisy, form, learner):
    X, y, _, _ = noisy
    X, y = form(X)[:500], y[:500]

    def fit(rows, weight=None):
        return NoisyClassifier(learner).fit(X[rows], y[rows], sample_weight=weight)
    rows, weight = np.arange(500), np.arange(500) % 3
    assert fit(rows, weight + 1).model_ == fit(np.repeat(rows, weight + 1)).model_
    # weights of 0 leave rows out, and then their order is that of the content
    shuffled = np.random.RandomState(0).permutation(500)
    assert fit(rows, weight).model_ == fit(shuffled, weight[shuffled]).model_
    with pytest.raises(ValueError, match="weight"):
        fit(rows, weight - 1)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_partial_fit(noisy, form):
    X, y, true, C = noisy
    names = np.array([f"c{k}" for k in range(10)])

    def fit(ends, **settings):
        model = NoisyClassifier("pa1", options={"aggressiveness": 0.001}, **settings)
        for a, b in zip(ends, ends[1:]):
            model.partial_fit(form(X[a:b] / 16), names[y[a:b]], classes=names)
        return model
    whole = fit([0, len(X)])
    parts = fit([0, 1, 2, 700, len(X)])  # a part of one example, and so of one class
    assert (whole.decision_function(form(X / 16)) == parts.decision_function(form(X / 16))).all()
    corrected = fit([0, 900, len(X)], confusion=C, correction="steps")
    assert corrected.score(form(X / 16), names[true]) > max(0.8, whole.score(form(X / 16), names[true]))
    more = NoisyClassifier("pa1").fit(X, true)
    before = more.model_
    assert more.partial_fit(form(X[:9]), y[:9]).model_ != before and more.score(X, true) > 0.8
    weight = 1 + np.arange(len(y)) % 2
    repeated = np.repeat(np.arange(len(y)), weight)
    assert (clone(more).partial_fit(X, y, range(10), weight).decision_function(X)
            == clone(more).partial_fit(X[repeated], y[repeated], range(10)).decision_function(X)).all()
    for bad, message in (({}, "first call"), ({"classes": [1, 2]}, "y: found class")):
        with pytest.raises(ValueError, match=message):
            clone(more).partial_fit(X, y, **bad)
    with pytest.raises(ValueError, match="as before"):
        more.partial_fit(X, y, classes=[1, 2])
    with pytest.raises(ValueError, match="sees a part"):
        NoisyClassifier("pa1", confusion="estimate").partial_fit(X, y, range(10))
    for other in (NoisyClassifier(), NoisyClassifier("pa1", kernel="rbf")):
        assert not hasattr(other, "partial_fit")


def test_fractions_and_soft_labels(noisy):
    X, y, true, _ = noisy
    half = NoisyClassifier(l2=1e-3).fit(X, y, sample_weight=np.where(y == true, 1, 0.01))
    assert half.score(X, true) > 0.95
    soft = 0.8 * np.eye(10)[true] + 0.02
    model = NoisyClassifier().fit(X, probabilities=soft)
    assert model.score(X, true) > 0.95
    assert NoisyClassifier().fit(X, probabilities=np.asfortranarray(soft)).model_ == model.model_
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame(soft, columns=[f"c{k}" for k in range(10)])
    assert NoisyClassifier().fit(X, probabilities=named).predict(X)[0] == f"c{true[0]}"
    few = np.where(np.arange(len(y)) % 2, true, np.nan)
    model = NoisyClassifier().fit(X, few)
    assert list(model.classes_) == list(range(10)) and model.score(X, true) > 0.9


def test_sparse_dense_and_types_agree(noisy):
    X, y, _, _ = noisy
    models = {NoisyClassifier(options={"normalize": "l2"}).fit(x, y).model_ for x in (
        X, X.astype(np.float32), X.astype(np.uint8), np.asfortranarray(X), X.astype(np.int64),
        sparse.csr_matrix(X), sparse.csc_matrix(X.astype(np.float32)), X.astype(np.float16))}
    assert len(models) == 1


@pytest.mark.parametrize("classes", [["b", "a", "ü"], ["10", "9", "a"], ["10", "9", "11"],
                                     [2.0, 1.0, 3.0], [-1, 0, 7], [10, 9, 11]])
def test_classes(classes):
    X, y = load_iris(return_X_y=True)
    named = np.array(classes)[y]
    model = NoisyClassifier(confusion=np.eye(3)).fit(X, named)
    assert np.array_equal(model.classes_, np.unique(named))
    assert model.score(X, named) > 0.9
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()


def test_bad_input(noisy):
    X, y, _, C = noisy
    x = X.copy()
    x[3, 5] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        NoisyClassifier().fit(x, y)
    with pytest.raises(ValueError, match="class"):
        NoisyClassifier().fit(X, np.ones(len(X)))
    with pytest.raises(Error, match="learner.*softmx.*not known; use softmax, trees, uma"):
        NoisyClassifier("softmx").fit(X, y)
    with pytest.raises(ValueError, match="confusion.*shape"):
        NoisyClassifier(confusion=np.eye(3)).fit(X, y)
    with pytest.raises(Error):
        NoisyClassifier(confusion=np.ones((10, 10)) / 10).fit(X, y)
    with pytest.raises(ValueError, match="wanted None, 'estimate'"):
        NoisyClassifier(confusion="estimat").fit(X, y)


def test_clone_and_pickle(noisy):
    X, y, _, C = noisy
    model = NoisyClassifier(confusion=C, options={"max_steps": 20}).fit(X, y)
    same = pickle.loads(pickle.dumps(model))
    assert (same.decision_function(X) == model.decision_function(X)).all()
    assert clone(model).get_params()["options"] == {"max_steps": 20}
    assert clone(model).fit(X, y).model_ == model.model_


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_grid_search(noisy, backend):
    import joblib
    X, y, true, C = noisy
    search = GridSearchCV(make_pipeline(MinMaxScaler(), NoisyClassifier(confusion=C)),
                          {"noisyclassifier__l2": [1e-4, 1e2]}, cv=2, n_jobs=2)
    with joblib.parallel_backend(backend):
        search.fit(X, y)
    assert search.best_params_ == {"noisyclassifier__l2": 1e-4}
    assert search.score(X, true) > 0.9


def test_cross_validation_and_calibration(noisy):
    X, y, true, C = noisy
    assert (cross_val_predict(NoisyClassifier(confusion=C), X, y, cv=3) == true).mean() > 0.85
    assert cross_val_score(NoisyClassifier(), X, y, cv=2, scoring="neg_log_loss").mean() > -2
    calibrated = CalibratedClassifierCV(NoisyClassifier(), cv=2).fit(X, true)
    assert calibrated.predict_proba(X).shape == (len(X), 10)


def test_pandas(noisy):
    pandas = pytest.importorskip("pandas")
    X, y, true, C = noisy
    frame = pandas.DataFrame(X).add_prefix("pixel")
    labels = pandas.Series(y).map(lambda k: f"digit {k}")
    names = sorted(set(labels))
    table = pandas.DataFrame(C, index=names, columns=names)
    model = NoisyClassifier(confusion=table).fit(frame, labels)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert (model.predict(frame) == pandas.Series(true).map(lambda k: f"digit {k}")).mean() > 0.93
    counts = pandas.crosstab(labels.rename("noisy"), pandas.Series(true, name="true").map(
        lambda k: f"digit {k}"))
    model.set_params(confusion=counts).fit(frame, labels)
    assert abs(model.confusion_ - C).max() < 0.1
    assert (model.predict(frame[frame.columns[::-1]]) == model.predict(frame)).all()
    with pytest.raises(ValueError, match='also "pixel0"'):
        model.predict(frame.drop(columns="pixel0"))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


def test_polars(noisy):
    polars = pytest.importorskip("polars")
    X, y, true, C = noisy
    frame = polars.DataFrame(X, schema=[f"pixel{k}" for k in range(X.shape[1])])
    model = NoisyClassifier(confusion=C).fit(frame, polars.Series(y))
    assert list(model.feature_names_in_) == frame.columns
    assert (model.predict(frame) == true).mean() > 0.93


@pytest.mark.skipif(not hasattr(NoisyClassifier, "set_fit_request"), reason="scikit-learn before 1.3")
def test_metadata_routing(noisy):
    import sklearn
    X, y, true, _ = noisy
    weight = np.where(y == true, 1, 0.01)
    with sklearn.config_context(enable_metadata_routing=True):
        model = NoisyClassifier().set_fit_request(sample_weight=True)
        search = GridSearchCV(make_pipeline(MinMaxScaler(), model), {"noisyclassifier__l2": [1e-3]}, cv=2)
        assert search.fit(X, y, sample_weight=weight).score(X, true) > 0.95
        model.set_fit_request(sample_weight=False)
        assert search.fit(X, y, sample_weight=weight).score(X, true) < 0.95


def test_annotations():
    X, y = load_iris(return_X_y=True)
    random = np.random.RandomState(0)
    votes = np.array([["x", "y", "z"][k] for k in y], dtype=object)[:, None].repeat(4, axis=1)
    wrong = random.rand(*votes.shape) < 0.2
    votes[wrong] = random.choice(["x", "y", "z"], wrong.sum())
    votes[random.rand(*votes.shape) < 0.3] = None
    model = NoisyClassifier(correction="em").fit(X, annotations=votes)
    assert list(model.classes_) == ["x", "y", "z"]
    assert model.score(X, np.array(["x", "y", "z"])[y]) > 0.9


def test_time_budget(noisy):
    X, y, _, _ = noisy
    model = NoisyClassifier("perceptron", time_budget=0.2, options={"max_steps": 10**8})
    model.fit(X, y)
    assert model.meta_["stop"] == "time"


def test_clean_learning_protocol(noisy):
    """What cleanlab's CleanLearning(clf) documents: clone, folds, predict_proba, refit without."""
    from umagpu import find_label_issues
    X, y, true, _ = noisy
    clf = clone(NoisyClassifier())
    probabilities = cross_val_predict(clf, X, y, cv=3, method="predict_proba")
    issues = find_label_issues(labels=y, pred_probs=probabilities,
                               return_indices_ranked_by="self_confidence")
    keep = np.setdiff1d(np.arange(len(y)), issues)
    refit = clone(clf).fit(X[keep], y[keep], sample_weight=np.ones(len(keep)))
    assert refit.score(X, true) > clone(clf).fit(X, y).score(X, true)
