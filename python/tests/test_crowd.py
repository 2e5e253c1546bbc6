"""Votes of annotators and labelling functions."""

import numpy as np
import pandas as pd
import pytest

from umagpu import consensus, weak_labels

random = np.random.RandomState(3)
TRUE = random.randint(3, size=200)
VOTES = np.where(random.rand(200, 4) < 0.8, TRUE[:, None], random.randint(3, size=(200, 4)))
GAP = random.rand(200, 4) < 0.2
GAP[7] = True
FRAME = pd.DataFrame(VOTES, columns=list("abcd"), index=range(100, 300))
LONG = pd.DataFrame([(f"i{i}", f"w{w}", VOTES[i, w]) for i in range(200) for w in range(4)
                     if not GAP[i, w]], columns=["task_id", "Annotator", "answer"])


@pytest.mark.parametrize("votes", [
    np.where(GAP, -1, VOTES), np.where(GAP, None, VOTES), np.where(GAP, np.nan, VOTES),
    np.where(GAP, None, VOTES).tolist(), FRAME.where(~GAP), FRAME.astype("Int64").where(~GAP)])
def test_gaps_are_no_votes(votes):
    found = consensus(votes)
    label = np.asarray(found)
    assert label[7] is None and found.label is not None and len(label) == 200
    assert np.mean(label == TRUE) > 0.85
    assert list(found["probability"]) == list(found.probability)
    want = consensus(np.where(GAP, -1, VOTES))
    assert (label == np.asarray(want)).all()
    assert np.mean(np.asarray(found) == TRUE) > 0.85


def test_frames():
    found = consensus(FRAME.where(~GAP))
    assert found.label.index[0] == 100 and found.table.columns.tolist() == ["label", "probability"]
    assert found.annotators.index.tolist() == list("abcd")
    assert found.annotators["labels"].tolist() == (~GAP).sum(axis=0).tolist()
    assert found.by_class.loc["a", [0, 1, 2]].between(0.7, 1).all()
    assert found.confusions["a"].shape == (3, 3)
    names = np.array([" x", "x", "x "])
    named = consensus(pd.DataFrame(names[VOTES]).where(~GAP))
    assert set(named.label.dropna()) == set(names)


@pytest.mark.parametrize("votes", [
    LONG, LONG[["answer", "task_id", "Annotator"]], LONG.assign(time=1.5),
    pd.DataFrame([(int(i[1:]), int(w[1:]), v) for i, w, v in LONG.to_numpy().tolist()])])
def test_long_tables(votes):
    found = consensus(votes)
    items = [int(str(i).lstrip("i")) for i in found.table.index]
    assert len(items) == 199 and 7 not in items and len(found.annotators) == 4
    assert np.mean(found.label.to_numpy() == TRUE[items]) > 0.85
    wide = consensus(FRAME.where(~GAP))
    assert found.agreement["krippendorff_alpha"] == pytest.approx(
        wide.agreement["krippendorff_alpha"])


def test_three_annotators_are_wide():
    assert len(consensus(FRAME.iloc[:, :3]).label) == 200
    assert len(consensus(pd.DataFrame([[1, 1, 2], [2, 2, 2], [1, 2, 1]])).label) == 3


def test_agreement_by_hand():
    # Krippendorff 2011, "Computing Krippendorff's alpha-reliability", C: nominal data
    k = np.nan
    a = [1, 2, 3, 3, 2, 1, 4, 1, 2, k, k, k]
    b = [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, k, 3]
    c = [k, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, k]
    d = [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, k]
    found = consensus(np.array([a, b, c, d]).T).agreement
    assert found["krippendorff_alpha"] == pytest.approx(.743, abs=5e-4)
    assert found["fleiss_kappa"] is None
    # two of four agree by chance
    pairs = consensus(np.array([[0, 0], [0, 1], [1, 1], [1, 0]])).agreement
    assert pairs["pairs"]["cohen_kappa"].tolist() == [0] and pairs["fleiss_kappa"] == pytest.approx(0)
    assert pairs["krippendorff_alpha"] == pytest.approx(.125)


@pytest.mark.parametrize("votes, word", [
    (FRAME.set_axis(list("aacd"), axis=1), "'a' twice"), ([[1, 2], [1]], "a column for each annotator"),
    (np.full((9, 3), None), "no label"), (np.ones((9, 3), int), "1 class"), (TRUE, "shape"),
    (pd.concat([LONG, LONG[:1]]), "twice"), (LONG.assign(task_id=None), "no task_id or")])
def test_refused(votes, word):
    with pytest.raises(ValueError, match=word):
        consensus(votes)


def test_trust_and_method():
    assert (consensus(FRAME, method="majority").label == TRUE).mean() > 0.8
    with pytest.raises(ValueError, match="'e'"):
        consensus(FRAME, trust=["e"])
    assert consensus(FRAME, trust=["a"]).annotators.loc["a", "right"] > 0.9
    with pytest.raises(TypeError):
        consensus(FRAME, colour="red")


def test_models_as_annotators():
    votes = pd.DataFrame(VOTES[:, :2], columns=["good", "too"])
    votes["copied"] = np.where(random.rand(200) < 0.7, TRUE, random.randint(3, size=200))
    votes["copy"] = votes["copied"].where(random.rand(200) < 0.9, TRUE)
    votes["guess"] = random.randint(3, size=200)
    person = pd.Series(TRUE).where(votes.index < 100)
    with pytest.warns(UserWarning, match='"copied" and "copy" give .* the same wrong label'):
        consensus(votes.assign(person=person), trust="person")
    found = consensus(votes.drop(columns="copy").assign(person=person), trust="person")
    gain = found.annotators["gain"]
    assert gain["guess"] < 1 < min(gain["good"], gain["too"]) and gain.isna().sum() == 1
    assert '"guess"' in found.details["notes"][0]["text"]


def test_weak_labels():
    X = np.eye(3)[TRUE] * 3 + random.randn(200, 3)
    functions = np.where(GAP | (VOTES != np.arange(4) % 3), -1, VOTES)  # each knows one class
    found = weak_labels(functions)
    assert found.annotators is None and found.functions["coverage"].between(0, 1).all()
    learned = weak_labels(functions, X)
    assert np.mean(learned.label == TRUE) > max(0.9, np.mean(np.asarray(found) == TRUE))
    assert (learned.model.predict(X) == learned.label).all()
    with pytest.raises(TypeError, match="learner"):
        weak_labels(functions, learner="uma")
    with pytest.raises(ValueError, match="functions: found 200 rows, wanted 199"):
        weak_labels(functions, X[1:])
