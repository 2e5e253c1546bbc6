"""The functions on labels."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from umagpu import (Error, NoisyClassifier, PredictionSets, consensus, estimate_confusion,
                    find_label_issues, query, survey)


@pytest.fixture(scope="module")
def probabilities(noisy):
    X, y, _, _ = noisy
    return cross_val_predict(LogisticRegression(max_iter=200), X / 16, y, cv=3, method="predict_proba")


def test_find_label_issues(noisy):
    X, y, true, C = noisy
    few = np.flatnonzero(true < 3)[:400]
    few_noisy = y[few] % 3
    mask = find_label_issues(few_noisy, X=X[few])
    assert (mask & (few_noisy != true[few])).sum() > 0.8 * mask.sum() > 60
    mask = find_label_issues(y, X=X, confusion=C)
    wrong = y != true
    assert (mask & wrong).sum() > 0.9 * max(wrong.sum(), mask.sum())
    ranked = find_label_issues(y, X=X, confusion=C, return_indices_ranked_by="label_quality")
    assert sorted(ranked) == list(np.flatnonzero(mask)) and wrong[ranked[:100]].mean() >= 0.9


def test_estimate_confusion(noisy, probabilities):
    X, y, true, C = noisy
    assert abs(estimate_confusion(y[:900], X[:900], folds=2) - C).max() < 0.25
    for given, most in (({"pred_probs": probabilities}, 0.25), ({"true_labels": true}, 0.1)):
        assert abs(estimate_confusion(y, **given) - C).max() < most
    some = true[:600].astype(float)
    some[150:] = np.nan
    assert abs(estimate_confusion(y[:600], X[:600], true_labels=some, folds=2) - C).max() < 0.3
    with pytest.raises(Error):
        estimate_confusion(y, X, method="wishful")


def test_prediction_sets(noisy):
    X, y, true, C = noisy
    model = NoisyClassifier(confusion=C).fit(X[:900], y[:900])
    sets = PredictionSets(model, 0.9, confusion=C).fit(X[900:1300], y[900:1300]).predict(X[1300:])
    assert sets.shape == (len(X) - 1300, 10)
    assert sets[np.arange(len(sets)), true[1300:]].mean() > 0.8


def test_consensus():
    random = np.random.RandomState(3)
    true = random.randint(3, size=200)
    votes = np.array(["x", "y", "z"], dtype=object)[
        np.where(random.rand(200, 4) < 0.7, true[:, None], random.randint(3, size=(200, 4)))]
    votes[random.rand(200, 4) < 0.2] = None
    votes[7] = None
    labels = consensus(votes)
    assert labels[7] is None
    assert np.mean(labels == np.array(["x", "y", "z"])[true]) > 0.85
    pandas = pytest.importorskip("pandas")
    frame = consensus(pandas.DataFrame(votes, index=range(100, 300), columns=list("abcd")))
    assert list(frame.columns) == ["label", "probability"] and frame.index[0] == 100
    assert list(frame["label"]) == list(labels)


def test_query(noisy):
    X, y, true, _ = noisy
    asked = query(X[200:], X[:200], true[:200], k=7)
    assert len(set(asked)) == 7 and asked.max() < len(X) - 200


def test_survey(noisy):
    X, y, _, C = noisy
    X = X.copy()
    X[70] = X[30] + 1e-4
    X[9] = 50 * X.max()
    found = survey(y, X, confusion=C)
    assert [30, 70] in found["near_duplicates"] and found["outliers"][0]["example"] == 9
    order = np.argsort(y, kind="stable")
    assert survey(y[order], X[order], confusion=C)["order_p"] <= 0.01
