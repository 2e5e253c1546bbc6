"""The functions on labels."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from umagpu import (NoisyClassifier, PredictionSets, compare, consensus, corrected_accuracy,
                    cross_validate, estimate_confusion, find_label_issues, query, report, survey,
                    weak_labels)


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


@pytest.mark.parametrize("row", [0, 700, -1])
def test_values_beyond_float32(noisy, row):
    X, y, _, _ = noisy
    beyond = X.astype(float)
    beyond[row, 0] = 1e39
    votes = pd.DataFrame({"al": y, "bo": y})
    for use in (lambda: find_label_issues(y, X=beyond, return_indices_ranked_by="label_quality"),
                lambda: NoisyClassifier().fit(beyond, annotations=votes)):
        with pytest.raises(ValueError, match=f"X: row {row % len(y)}: column 0: got 1e.39"):
            use()


def test_estimate_confusion(noisy, probabilities):
    X, y, true, C = noisy
    assert abs(estimate_confusion(y[:900], X[:900], folds=2) - C).max() < 0.25
    for given, most in (({"pred_probs": probabilities}, 0.25), ({"true_labels": true}, 0.1)):
        assert abs(estimate_confusion(y, **given) - C).max() < most
    some = true[:600].astype(float)
    some[150:] = np.nan
    assert abs(estimate_confusion(y[:600], X[:600], true_labels=some, folds=2) - C).max() < 0.3
    few = pd.Series(y, dtype="Int64").where(np.arange(len(y)) % 9 > 0)  # others have no label
    assert abs(estimate_confusion(few, true_labels=true) - C).max() < 0.1
    names = np.array([f" {k}" for k in range(10)])
    given = [None if k == 3 else names[k] for k in true]
    found = estimate_confusion(names[y], true_labels=given)
    assert found.shape == (10, 10) and abs(found[:, [0, 9]] - C[:, [0, 9]]).max() < 0.1
    # a class that no label has is one of the true labels'
    assert estimate_confusion(np.where(true == 9, 0, true), true_labels=true)[0, 9] > 0.9
    for bad in ({"X": X, "method": "wishful"}, {"true_labels": true[:50]}, {},
                {"X": X[:9]}):
        with pytest.raises(ValueError):
            estimate_confusion(y, **bad)
    with pytest.raises(TypeError, match="colour"):
        estimate_confusion(y, X, colour="red")


def test_prediction_sets(noisy):
    X, y, true, C = noisy
    model = NoisyClassifier(confusion=C).fit(X[:900], y[:900])
    sets = PredictionSets(model, 0.9, confusion=C).fit(X[900:1300], y[900:1300]).predict(X[1300:])
    assert sets.shape == (len(X) - 1300, 10)
    assert sets[np.arange(len(sets)), true[1300:]].mean() > 0.8


def test_query(noisy):
    X, y, true, _ = noisy
    asked = query(X[200:], X[:200], true[:200], k=7)
    assert len(set(asked)) == 7 and asked.max() < len(X) - 200
    assert len(query(csr_matrix(X[200:]), csr_matrix(X[:200]), true[:200], k=3)) == 3
    gaps = np.where(np.arange(200) < 9, None, true[:200])  # rows without a label are not asked for
    assert query(X[200:], X[:200], gaps, k=7).min() >= 0
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(len(X))]).rename(columns=str)
    named = query(frame[200:].iloc[:, ::-1], frame[:200], true[:200], k=7)
    assert named.tolist() == [f"r{i + 200}" for i in asked]
    with pytest.raises(ValueError, match="'63'"):
        query(frame[200:].iloc[:, :63], frame[:200], true[:200])
    with pytest.raises(ValueError, match="200"):
        query(X[200:], X[:200], true[:100])
    with pytest.raises(TypeError, match="colour"):
        query(X[200:], X[:200], true[:200], colour="red")


def test_survey(noisy):
    X, y, _, C = noisy
    X = X.copy()
    X[70] = X[30] + 1e-4
    X[9] = 50 * X.max()
    found = survey(y, X, confusion=C)
    assert [30, 70] in found["near_duplicates"] and found["outliers"][0]["example"] == 9
    frame = pd.DataFrame(X[:200], index=[f"r{i}" for i in range(200)])
    named = survey(pd.Series(y[:200]), frame, confusion=C)
    assert ["r30", "r70"] in named["near_duplicates"] and named["outliers"][0]["example"] == "r9"
    order = np.argsort(y, kind="stable")
    assert survey(y[order], X[order], confusion=C)["order_p"] <= 0.01


def test_cross_validate(noisy):
    X, y, true, C = noisy
    found = cross_validate(X, y, confusion=C, folds=3)
    assert found.accuracy.low < (found.predicted == true).mean() < found.accuracy.high
    assert found.probabilities.shape == (len(y), 10) and found.log_loss > 0
    frame = pd.DataFrame(X[:600], index=[f"r{i}" for i in range(600)]).rename(columns=str)
    names = np.array([f" {k}" for k in range(10)])
    named = cross_validate(frame, names[true[:600]], folds=2, learner="classmean")
    assert named.predicted.index.equals(frame.index) and named.accuracy > 0.8
    gaps = np.where(np.arange(len(y)) < 100, None, y)
    assert cross_validate(X, gaps, confusion=C, folds=3).accuracy.value > 0.9
    with pytest.raises(TypeError, match="colour"):
        cross_validate(X, y, colour="red")


def test_compare(noisy):
    X, y, _, C = noisy
    found = compare(X, y, {"plain": {"confusion": None}, "C": {}, "own": {"confusion": np.eye(10)},
                           "means": {"learner": "classmean"}}, confusion=C, folds=3)
    assert found.index[0] == "C" and set(found.index) == {"plain", "C", "own", "means"}
    assert found.loc["plain", "accuracy"] == found.loc["own", "accuracy"] < found.loc["C", "low"]
    assert found["behind"].is_monotonic_increasing and (found["failed"] == "").all()
    assert list(compare(X, y, ["softmax"], folds=2).index) == ["softmax"]
    for bad in ({}, {"a": {"text": ["t"]}}, {"a": {"confusion": np.eye(3)}}):
        with pytest.raises(ValueError):
            compare(X, y, bad)


def test_report(noisy, tmp_path):
    X, y, _, C = noisy
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(len(X))]).rename(columns=str)
    model = NoisyClassifier(confusion=C).fit(frame, y)
    page = report(model, frame, y, name="my digits")
    page.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "my digits" in text and "umagpu.report(model" in text and "<iframe" in page._repr_html_()
    gaps = np.where(np.arange(len(y)) < 9, None, y)
    assert "r8<" not in report(model, frame, gaps).html
    assert report(NoisyClassifier().fit(X, y), csr_matrix(X).tocoo(), gaps).html
    with pytest.raises(ValueError, match="y: found"):
        report(model, frame, y[1:])
    with pytest.raises(ValueError, match="90"):
        report(model, frame, y + 90)


def test_a_class_that_no_label_has(noisy):
    X, y, true, _ = noisy
    some = np.flatnonzero(true < 3)[:300]
    X, y = X[some], np.where(true[some] == 2, 1, true[some])  # all 2 are called 1
    C = np.array([[1, 0, 0], [0, 1, 0.9], [0, 0, 0.1]])
    assert cross_validate(X, y, confusion=C, folds=2).probabilities.shape == (300, 3)
    assert corrected_accuracy(y, true[some], C).value == pytest.approx(1, abs=0.4)
    assert compare(X, y, ["softmax"], confusion=C, folds=2)["log_loss"].notna().all()
    assert find_label_issues(y, X=X, confusion=C).shape == (300,)
    assert len(query(X[:20], X, y, confusion=C, k=2)) == 2


def test_index_in_another_order():
    """Functions match rows by position: an index with the same rows in another order is refused."""
    y = pd.Series(np.arange(60) % 3, [f"r{k}" for k in range(60)])
    X, shuffled = pd.DataFrame({"a": y, "b": range(60)}), y.sample(frac=1, random_state=0)
    p = pd.DataFrame(np.eye(3)[y], shuffled.index)
    for use in (lambda: find_label_issues(shuffled, X=X), lambda: find_label_issues(y, p),
                lambda: estimate_confusion(y, true_labels=shuffled), lambda: survey(shuffled, X),
                lambda: estimate_confusion(shuffled, X), lambda: cross_validate(X, shuffled),
                lambda: compare(X, shuffled, ["classmean"]), lambda: query(X, X, shuffled),
                lambda: corrected_accuracy(y, shuffled, np.eye(3)), lambda: weak_labels(p, X),
                lambda: report(NoisyClassifier("classmean").fit(X, y), X, shuffled)):
        with pytest.raises(ValueError, match="in another order, wanted .*reindex"):
            use()
    assert corrected_accuracy(y, shuffled.set_axis(y.index), np.eye(3)).value < 1
    assert cross_validate(X, shuffled.reindex(X.index), learner="classmean", folds=2).accuracy > .5


@pytest.mark.parametrize("use, error, message", [
    (lambda X, y: report(X, NoisyClassifier(), y), ValueError, "model: found a value of type"),
    (lambda X, y: report(NoisyClassifier(), X, y), ValueError, "not fitted"),
    (lambda X, y: PredictionSets(3).fit(X, y), ValueError, "estimator: found a value of type int"),
    (lambda X, y: consensus(np.c_[y, y], matrices=3), ValueError, "matrices: found a value of type int"),
    (lambda X, y: compare(X, y, "softmax"), ValueError, "candidates: found 'softmax', wanted a list"),
    (lambda X, y: compare(X, y, ["uma", "uma"]), ValueError, "wanted different ones"),
    (lambda X, y: compare(X, y, {"a": "uma"}), ValueError, "'uma' as 'a', wanted a dict"),
    (lambda X, y: compare(X, y, {"a": {"lerner": "uma"}}), TypeError, r"compare\(\) got .*'lerner'"),
    (lambda X, y: cross_validate(X, y, learner="pa1", aggressiveness=1, zz=1), TypeError, "'zz'"),
    (lambda X, y: cross_validate(X, y, folds=0), ValueError, "folds: found 0, wanted a number above 0"),
    (lambda X, y: query(X, X, y, k=0), ValueError, "k: found 0, wanted a number above 0"),
    (lambda X, y: corrected_accuracy(y, y[1:], np.eye(3)), ValueError, "one for each row of y_noisy"),
    (lambda X, y: corrected_accuracy(y, [None, *y[1:]], np.eye(3)), ValueError, "no class in row 0"),
    (lambda X, y: cross_validate(X, y, ignore_columns="a"), ValueError, "ignore_columns: .*beside an array"),
])
def test_wrong_and_swapped_arguments(use, error, message):
    y = np.arange(30) % 3
    with pytest.raises(error, match=message):
        use(np.c_[y, y], y)


def test_masks_of_a_pool():
    """Masked values of a pool and of the labelled rows are gaps of the two."""
    y = np.arange(40) % 2
    X = np.ma.masked_array(np.c_[y, np.arange(40) % 7] * 1., False)
    pool = np.ma.masked_array(X.data[:20], X.data[:20] == 6)
    want = query(np.where(pool.mask, np.nan, pool.data), X.data, y, k=5)
    assert query(pool, X, y, k=5).tolist() == want.tolist()


def test_errors_of_a_matrix_name_no_row_of_the_data():
    X = pd.DataFrame({"a": [0., 1] * 9, "b": 1}, index=range(100, 118))
    with pytest.raises(ValueError) as caught:
        NoisyClassifier(confusion=np.eye(2) * np.nan).fit(X, [0, 1] * 9)
    assert "row 0, column 0: got NaN" in str(caught.value) and "index" not in str(caught.value)


def test_masked_confusion_is_refused():
    """What a mask hides is no number."""
    hidden = np.ma.masked_array(np.eye(2), mask=np.eye(2) > 0)
    with pytest.raises(ValueError, match="confusion: .*NaN"):
        corrected_accuracy([0, 1], [0, 1], hidden)
