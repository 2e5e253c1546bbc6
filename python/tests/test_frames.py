"""Estimators on tables as people have them, and on labels as they are."""

import os
import pickle
import tempfile
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

from umagpu import Error, KernelMap, NoisyClassifier, PredictionSets, run

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def table():
    """A frame with columns of all kinds, gaps in them, an index with repeats, and labels."""
    X, y = load_iris(return_X_y=True)
    random, n = np.random.RandomState(0), len(y)
    frame = pandas.DataFrame({
        "number": X[:, 0], "whole": pandas.array(random.randint(5, size=n), "Int64"),
        "category": pandas.Categorical(random.choice(list("abc"), n), list("zabc")),
        "word": np.array(["u", "v"], object)[random.randint(2, size=n)],
        "title": [["red apple", "blue sky", "green tree"][k] for k in y],
        "truth": random.rand(n) > .5, "maybe": pandas.array(random.rand(n) > .5, "boolean"),
        "when": pandas.date_range("2020", periods=n, tz="Europe/Berlin"),
        "lasts": pandas.to_timedelta(random.randint(9, size=n), unit="min"),
    }, index=np.arange(n) // 2)
    for k, name in enumerate(frame.columns):
        if name != "truth":
            frame.iloc[k, frame.columns.get_loc(name)] = None
    return frame, np.array([" <=50K", "", "1_0"], object)[y]


def test_mixed_frame(table):
    frame, y = table
    model = NoisyClassifier(text=["title"]).fit(frame, y)
    assert list(model.classes_) == ["", " <=50K", "1_0"] and model.score(frame, y) > .95
    assert list(model.feature_names_in_) == list(frame.columns) and model.n_features_in_ == 9
    found = model.predict_proba(frame)
    assert NoisyClassifier().fit(frame, y, text=["title"]).model_ == model.model_
    assert np.array_equal(model.predict_proba(frame[frame.columns[::-1]]), found)
    assert np.array_equal(model.predict_proba(frame.iloc[:9]), found[:9])
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(frame), found)
    # one row alone, whose columns have other types, and gaps where the training had none
    assert np.array_equal(model.predict_proba(frame.iloc[[2]].astype(object)), found[[2]])
    gaps = pandas.DataFrame({name: [None] for name in frame.columns})
    assert model.predict(gaps)[0] in y
    with pytest.warns(UserWarning, match="category.*levels.*\"new\""):
        model.predict(frame.assign(category="new"))
    with pytest.warns(UserWarning, match="column 'id', which .* is left out"):
        model.predict(frame.assign(id=1))
    with pytest.warns(UserWarning, match="2 columns.*left out, such as 'id'"):
        assert np.array_equal(model.predict_proba(frame.assign(id=1, more="x")), found)
    for bad, message in ((frame.drop(columns="word"), 'also "word"'),
                         (frame.assign(number="x"), "X: column \"number\": got \"x\", want number")):
        with pytest.raises(ValueError, match=message):
            model.predict(bad)
    with pytest.raises(ValueError, match="column 'word' twice"):
        model.predict(pandas.concat([frame, frame[["word"]]], axis=1))


def test_categories_without_an_example():
    words = np.array(["u", "v", "w"])[np.arange(60) % 3]
    frame = pandas.DataFrame({"c": pandas.Categorical(words), "n": np.arange(60) % 7})
    wide = frame.assign(c=pandas.Categorical(words, [*map(str, range(100)), "w", "v", "u"]))
    y = np.arange(60) % 2
    model = NoisyClassifier("classmean").fit(frame, y)
    assert np.array_equal(NoisyClassifier("classmean").fit(wide, y).predict_proba(frame), model.predict_proba(wide))
    assert np.array_equal(model.predict_proba(wide[:3]), model.predict_proba(frame[:3]))


def test_load(table, tmp_path):
    frame, y = table
    path = tmp_path / "m.npz"
    model = NoisyClassifier(text=["title"], l2=.01, correction="backward", confusion=np.eye(3) * .7 + .1)
    model.fit(frame, y).save(path)
    same = NoisyClassifier.load(path)
    assert np.array_equal(same.predict_proba(frame[frame.columns[::-1]]), model.predict_proba(frame))
    assert list(same.feature_names_in_) == list(frame.columns)
    for name, value in model.get_params().items():
        assert np.array_equal(same.get_params()[name], value), name
    assert clone(same).fit(frame, y).model_ == model.model_


@pytest.mark.parametrize("settings", [
    {}, {"kernel": "rbf"}, {"kernel": "poly", "options": {"degree": 2}}, {"random_state": 7},
    {"learner": "pa1", "options": {"aggressiveness": .5, "max_steps": 3}},
    {"options": {"class_weights": "balanced", "normalize": "none"}}])
def test_load_settings(tmp_path, settings):
    X, y = load_iris(return_X_y=True)
    model = NoisyClassifier(**settings).fit(X, y)
    model.save(tmp_path / "m.npz")
    assert clone(NoisyClassifier.load(tmp_path / "m.npz")).fit(X, y).model_ == model.model_


@pytest.mark.parametrize("classes", [
    [3, 1, 2], [3., 1., 2.], ["3", "1", "2"], [" a", "a", "a "], ["", "b", "1_0"], ["１", "1", "+1"],
    [2**63, 1, 2**64], [b"x", b"y", b"z"], pandas.to_datetime(["2020", "2021", "2022"]).to_numpy()])
def test_classes_keep_their_type(tmp_path, classes):
    X, y = load_iris(return_X_y=True)
    labels = np.array(classes, dtype=object if isinstance(classes[0], str) else None)[y]
    model = NoisyClassifier("classmean").fit(X, labels)
    assert sorted(model.classes_.tolist()) == model.classes_.tolist()
    assert {*map(type, model.predict(X).tolist())} == {*map(type, labels.tolist())}
    assert (model.predict(X) == labels).mean() > .8
    if not isinstance(labels[0], (bytes, np.datetime64)):
        model.save(tmp_path / "m.npz")
        run("inspect", "--model", tmp_path / "m.npz")
        assert (NoisyClassifier.load(tmp_path / "m.npz").predict(X) == labels).mean() > .8
    truths = NoisyClassifier("classmean").fit(X, y > 0)
    truths.save(tmp_path / "m.npz")
    assert NoisyClassifier.load(tmp_path / "m.npz").predict(X).dtype == bool


@pytest.mark.parametrize("missing", [None, np.nan, pandas.NA, pandas.NaT])
def test_unlabelled(missing):
    X, y = load_iris(return_X_y=True)
    labels = y.astype(object)
    labels[::3] = missing
    for given in (labels, pandas.Series(labels), labels.tolist()):
        model = NoisyClassifier().fit(X, given)
        assert model.classes_.tolist() == [0, 1, 2] and model.score(X, y) > .9


def test_evidence():
    X, y = load_iris(return_X_y=True)
    random = np.random.RandomState(0)
    votes = np.where(random.rand(150, 4) < .8, y[:, None], random.randint(3, size=(150, 4)))
    gaps = random.rand(150, 4) > .2
    frame = pandas.DataFrame(votes).astype("Int64").where(gaps)
    for given in (frame, np.where(gaps, votes, -1), np.ma.masked_array(votes, ~gaps),
                  frame.astype(object).where(gaps, None).values.tolist()):
        for name in ("annotations", "functions"):
            assert NoisyClassifier(learner="softmax").fit(X, **{name: given}).score(X, y) > .9
    soft = pandas.DataFrame(.8 * np.eye(3)[y] + .2 / 3, columns=[2, 1, 0])
    assert NoisyClassifier().fit(X, probabilities=soft).score(X, 2 - y) > .9
    for bad, message in (({"y": y, "annotations": votes}, "y and annotations: found both"),
                         ({}, "y to be passed"), ({"annotations": votes[:9]}, "found 9 rows, wanted 150"),
                         ({"y": y[::2]}, "found 75 rows, wanted 150"),
                         ({"annotations": np.full((150, 2), None)}, "found no label"),
                         ({"probabilities": soft.set_axis(["a", "a", "b"], axis=1)}, "different")):
        with pytest.raises(ValueError, match=message):
            NoisyClassifier().fit(X, **bad)


def test_confusion_of_more_classes():
    """A part of the examples may lack a class of the confusion."""
    X, y = load_iris(return_X_y=True)
    C = np.array([[.7, 0, .3], [.3, .7, 0], [0, .3, .7]])
    two = y < 2
    for labels, confusion in ((y, C), (np.array(list("abc"), object)[y],
                                       pandas.DataFrame(C, list("abc"), list("abc")))):
        model = NoisyClassifier(confusion=confusion).fit(X[two], labels[two])
        assert model.predict_proba(X).shape == (150, 3) and model.score(X[two], labels[two]) > .9
    with pytest.raises(ValueError, match="shape.*DataFrame names the classes"):
        NoisyClassifier(confusion=C).fit(X[two], np.array(list("abc"))[y[two]])


def test_failed_fit_leaves_the_model(table):
    frame, y = table
    model = NoisyClassifier().fit(frame, y)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    X, _ = load_iris(return_X_y=True)
    for bad in (lambda: model.fit(X, np.zeros(150)), lambda: model.fit(X[:5], y),
                lambda: model.set_params(l2=-1).fit(X, np.arange(150) % 2),
                lambda: model.set_params(l2=None, confusion=np.ones((2, 2))).fit(X, np.arange(150) % 2)):
        with pytest.raises(ValueError):
            bad()
        assert {name: value for name, value in vars(model).items() if name.endswith("_")} == before


@pytest.mark.parametrize("folder", ["deleted", "other bytes"])
def test_working_directory(tmp_path, folder):
    X, y = load_iris(return_X_y=True)
    here, path = os.getcwd(), os.fsencode(tempfile.mkdtemp(dir=tmp_path)) + b"/caf\xe9"
    os.mkdir(path)
    os.chdir(path)
    try:
        if folder == "deleted":
            os.rmdir(path)
        assert NoisyClassifier("classmean").fit(X, y).score(X, y) > .8
        assert "softmax" in run("learners")
        if folder != "deleted":
            NoisyClassifier("classmean").fit(X, y).save("m.npz")
            assert "classmean" in run("inspect", "--model", "m.npz")
    finally:
        os.chdir(here)


def test_columns_of_other_names():
    X, y = load_iris(return_X_y=True)
    numbered = pandas.DataFrame(X)
    model = NoisyClassifier().fit(numbered, y)
    assert not hasattr(model, "feature_names_in_")
    for same in (X, numbered[[3, 1, 0, 2]], pandas.DataFrame(X, columns=[7, 8, 9, 10])):
        assert np.array_equal(model.predict(same), model.predict(numbered))
    levels = pandas.DataFrame(X, columns=pandas.MultiIndex.from_product([["a", "b"], [1, 2]]))
    assert np.array_equal(NoisyClassifier().fit(levels, y).predict(levels), model.predict(X))
    wide = pandas.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(np.round(X)), columns=list("abcd"))
    assert NoisyClassifier().fit(wide, y).score(wide[list("dcba")], y) > .9


def test_errors_use_keywords():
    X, y = load_iris(return_X_y=True)
    for options, message in (({"max_steps": -4}, "max_steps: got -4"), ({"foo": 1}, 'parameters: got "foo"'),
                             ({"gamma": 2}, "gamma: got"), ({"knots": -1}, "knots")):
        with pytest.raises(Error, match=message):
            NoisyClassifier(options=options).fit(pandas.DataFrame(X).assign(w="a"), y)
    with pytest.raises(Error) as caught:
        NoisyClassifier(l2=-1).fit(X, y)
    assert caught.value.fault["option"] == "l2"
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.fault == caught.value.fault


def test_prediction_sets_of_frames(table):
    frame, y = table
    model = NoisyClassifier(text=["title"]).fit(frame, y)
    sets = PredictionSets(model, .9).fit(frame, y).predict(frame[frame.columns[::-1]])
    assert sets.shape == (150, 3) and sets[np.arange(150), np.searchsorted(model.classes_, y)].mean() >= .9


def test_kernel_map_names():
    X, _ = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(e=["u", "v"] * 75)
    found = KernelMap(n_components=3).set_output(transform="pandas").fit(frame)
    assert list(found.get_feature_names_out()) == ["kernelmap0", "kernelmap1", "kernelmap2"]
    assert list(found.transform(frame).columns) == list(found.get_feature_names_out())
    turned = found.transform(frame[frame.columns[::-1]])
    assert (turned == found.transform(frame)).all(axis=None) and found.n_features_in_ == 5
def test_failed_fit_changes_nothing():
    X, y = load_iris(return_X_y=True)
    model = NoisyClassifier().fit(X, y)
    before, beyond = dict(vars(model)), pandas.DataFrame(X[:, :3].copy(), columns=list("abc"))
    beyond.iloc[7, 1] = 1e39
    for wrong, labels, message in (
            (X[:, :2], ["a"] * len(y), "y: got 1 classes"),
            (beyond, np.where(y > 0, "p", "q"), 'X: row 7: column .*: got 1e.39')):
        with pytest.raises(ValueError, match=message):
            model.fit(wrong, labels)
        changed = [name for name in {*before, *vars(model)} if vars(model).get(name) is not before.get(name)]
        assert not changed


def test_gaps_at_prediction():
    X, y = load_iris(return_X_y=True)
    holes = X.copy()
    holes[3, 1] = np.nan
    hidden = np.ma.masked_array(X, np.isnan(holes))
    model = NoisyClassifier().fit(pandas.DataFrame(X, columns=list("abcd")), y)
    found = model.predict_proba(pandas.DataFrame(holes, columns=list("abcd")))
    alone = model.predict_proba(pandas.DataFrame(holes[3:4], columns=list("abcd")))
    assert np.array_equal(found[3:4], alone)
    for gaps in (holes, hidden):
        assert NoisyClassifier().fit(gaps, y).score(X, y) > .9
        with pytest.raises(ValueError, match="X: row 3: column 1: got NaN"):
            NoisyClassifier().fit(X, y).predict(gaps)




def test_rows_of_weight_zero_keep_their_numbers():
    """Rows of weight zero are left out; errors have the row numbers of X."""
    X, y = load_iris(return_X_y=True)
    beyond, weights = X.copy(), np.ones(150)
    beyond[70, 1], weights[[3, 90]] = 1e39, 0
    index = np.arange(1000, 1150)
    for given, message in ((beyond, "row 70: column 1: got 1e.39"),
                           (pandas.DataFrame(beyond, index), "row 70: .*row 70 is 1070 in the index"),
                           (sparse.csr_matrix(beyond), "row 70: ")):
        with pytest.raises(ValueError, match=message):
            NoisyClassifier("classmean").fit(given, y, sample_weight=weights)
    weights[70] = np.nan
    with pytest.raises(ValueError, match="sample_weight: row 70: "):
        NoisyClassifier("classmean").fit(X, y, sample_weight=weights)


def test_index_in_another_order():
    """By scikit-learn's rules rows are matched by position, which an index can contradict."""
    X, y = load_iris(return_X_y=True)
    frame, labels = pandas.DataFrame(X), pandas.Series(y)
    shuffled = labels.sample(frac=1, random_state=0)
    for given in ({"y": shuffled}, {"y": y, "sample_weight": shuffled + 1}):
        with pytest.warns(UserWarning, match="index of X in another order.*by position"):
            NoisyClassifier("classmean").fit(frame, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = shuffled.reindex(frame.index)
        NoisyClassifier("classmean").fit(frame, same).fit(frame, labels.set_axis(range(200, 350)))


def test_ignored_columns(table):
    frame, y = table
    less = frame.drop(columns=["title", "when"])
    model = NoisyClassifier("classmean", options={"ignore_columns": ["title", "when"]}).fit(frame, y)
    assert model.model_ == NoisyClassifier("classmean").fit(less, y).model_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(model.predict(frame), model.predict(less))
    for X, ignored, message in ((frame, "titel", "no column 'titel', wanted one of"),
                                (np.eye(150), [0], "beside an array")):
        with pytest.raises(ValueError, match=f"ignore_columns: found.*{message}"):
            NoisyClassifier(options={"ignore_columns": ignored}).fit(X, y)


@pytest.mark.parametrize("settings, message", [
    ({"l2": .1, "options": {"l2": .2}}, "options: found 'l2' beside the parameter"),
    ({"kernel": "rbf", "options": {"components": 0}}, "components: found 0, wanted a number above 0"),
    ({"time_budget": 0}, "time: found 0, wanted a number above 0"),
    ({"time_budget": pandas.Timedelta("1s")}, "time: found a value of type Timedelta"),
    ({"options": ["l2"]}, "options: found .*wanted a dict"), ({"device": 3}, "device: got number, want a text"),
    ({"options": {"rounds": []}}, r"rounds: got \[\], want a whole number"), ({"text": True}, "text: found True"),
    ({"options": {"max_steps": 2.5}}, "max_steps: got number 2.5, want a whole number"),
    ({"l2": np.nan}, "l2: found nan, wanted a finite number"), ({"random_state": -1}, "Seed must be"),
    ({"kernel": "rbff"}, 'kernel: got "rbff", want rbf'), ({"text": "zz"}, 'text: got "zz"'),
    ({"time_budget": -1}, "time_budget: got -1"), ({"confusion": "estimat"}, "wanted None, 'estimate'"),
    ({"confusion": -np.eye(3)}, "confusion: .*got -1"), ({"confusion_axes": "rows",
                                                          "confusion": np.eye(3)}, 'axes "rows"')])
def test_settings_refused(settings, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        NoisyClassifier(**settings).fit(pandas.DataFrame(X).assign(w="a"), y)
    with pytest.raises(ValueError, match="wanted a DataFrame"):
        NoisyClassifier().fit(pandas.Series(["a", "b"]), [0, 1])
