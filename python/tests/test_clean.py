"""clean, from tables as people have them."""

import warnings

import numpy as np
import pandas as pd
import pytest

from umagpu import clean


@pytest.fixture(scope="module")
def mixed():
    """A table with every kind of column, gaps, an index of its own, and wrong labels."""
    random = np.random.RandomState(0)
    n = 400
    true = random.randint(3, size=n)
    other = np.where(random.rand(n, 2) < 0.75, true[:, None], random.randint(3, size=(n, 2)))
    frame = pd.DataFrame({
        "size": random.randn(n) + 2 * true, "kind": pd.Categorical.from_codes(other[:, 0], list("uvw")),
        "colour": np.array(["red", "green", None], dtype=object)[other[:, 1]],
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.randint(0, 1000, n), "D"),
        "count": pd.array(random.randint(0, 9, n), dtype="Int64"), "old": random.rand(n) < 0.5},
        index=[f"r{i}" for i in range(n)])
    frame.loc["r3", "size"] = np.nan
    frame.loc["r4", ["count", "when"]] = pd.NA
    names = np.array([" a", "b", "c "], dtype=object)
    wrong = random.rand(n) < 0.2
    frame["y"] = names[np.where(wrong, (true + 1) % 3, true)]
    return frame, pd.Series(names[true], index=frame.index)


@pytest.fixture(scope="module")
def result(mixed):
    return clean(mixed[0], label="y", name="shapes")


def test_clean(mixed):
    frame, true = mixed
    before = frame.copy()
    result = clean(frame, label="y")
    assert frame.equals(before)
    issues, wrong = result.issues, frame["y"] != true
    assert issues.index.equals(frame.index)
    assert (issues["wrong"] & wrong).sum() > 0.8 * max(wrong.sum(), issues["wrong"].sum())
    assert (issues["reason"][issues["wrong"]] != "").all()
    assert (issues["given"] == frame["y"]).all() and issues["probability"].between(0, 1).all()
    order = issues["review"].dropna().astype(int)
    assert sorted(order) == list(range(1, len(order) + 1)) and len(order) > 0
    assert (result.cleaned["y"] == true).mean() > 0.9 > (frame["y"] == true).mean()
    assert result.cleaned.drop(columns="y").equals(frame.drop(columns="y"))
    changed = result.cleaned["y"] != frame["y"]
    assert (issues["suggestion"][changed] == result.cleaned["y"][changed]).all()
    features = frame.drop(columns="y")
    assert (result.model.predict(features.iloc[:, ::-1]) == true).mean() > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the column of labels is no surprise
        assert (result.model.predict(frame) == result.model.predict(features)).all()
    assert result.model.feature_names_in_.tolist() == list(features.columns)
    c = result.confusion
    assert c.index.name == "noisy" and c.columns.name == "true" and c.index.tolist() == [" a", "b", "c "]
    assert c.sum().round(6).tolist() == [1, 1, 1] and 0.7 < c.to_numpy().diagonal().mean() < 0.9
    assert result.probabilities.shape == (400, 3)


def test_pages_and_summary(result, tmp_path):
    assert "400 rows" in result.summary() and "checked=" in repr(result) and "%" in repr(result)
    assert "<iframe" in result._repr_html_()
    worst = result.issues["probability"].idxmax()
    for page in (result.report, result.review):
        page.save(tmp_path / "page.html")
        text = (tmp_path / "page.html").read_text()
        assert "shapes" in text and "umagpu.clean(df" in text and worst in text


def test_checked(mixed, result):
    frame, true = mixed
    some = true.sample(40, random_state=0)
    by_series = clean(frame, "y", checked=some)
    assert by_series.details["checked"] == 40
    assert (by_series.cleaned["y"][some.index] == some).all()
    for same in (some.to_dict(), true.where(true.index.isin(some.index)).tolist()):
        assert clean(frame, "y", checked=same).issues.equals(by_series.issues)
    edited = result.issues.copy()
    edited.loc[some.index, "true"] = some
    assert clean(frame, "y", checked=edited).issues.equals(by_series.issues)
    assert by_series.issues["true"].dropna().to_dict() == some.to_dict()
    assert clean(frame, "y", checked=some[:1]).details["checked"] == 1
    moved = frame.sample(frac=1, random_state=0)
    numbers = moved.set_axis(range(len(moved)))[::-1]  # a file of the issues lost this index
    lost = edited.loc[moved.index[::-1]].reset_index(drop=True)
    with pytest.raises(ValueError, match="checked: found row .* with the given label .*index_col=0"):
        clean(numbers, "y", checked=lost)
    column = frame.assign(right=some)
    found = clean(column, "y", checked="right")
    assert found.issues.equals(by_series.issues) and "right" in found.cleaned
    assert (found.model.predict(frame.drop(columns="y")) == true).mean() > 0.9
    for bad, word in (({"r999": "b"}, "r999"), ({"r1": "z"}, "z"), (["b"], "found 1"),
                      ("rigth", "rigth"), (frame, "column true")):
        with pytest.raises(ValueError, match=word):
            clean(frame, "y", checked=bad)


def test_a_file_of_checked_rows(mixed, tmp_path):
    frame, true = mixed
    path = str(tmp_path / "checked.csv")
    named = frame.assign(y=frame["y"].replace("b", "NA"))
    pd.DataFrame({"row": ["r17", "r3"], "label": ["NA", " a"]}).to_csv(path, index=False)
    assert clean(named, "y", checked=path).cleaned["y"][["r17", "r3"]].tolist() == ["NA", " a"]
    numbered = frame.reset_index(drop=True)
    some = pd.Series({"17": true["r17"], "3": true["r3"]})  # the index as text, as files have it
    assert clean(numbered, "y", checked=some).details["checked"] == 2
    twice = frame.set_axis(["r"] * len(frame))
    with pytest.raises(ValueError, match="twice"):
        clean(twice, "y", checked=some)
    digits = numbered.assign(y=numbered["y"].map({" a": "1", "b": "02", "c ": "3"}))
    assert clean(digits, "y", checked={0: 1, 5: 3}).details["checked"] == 2  # read as numbers


@pytest.mark.parametrize("labels", [
    pd.period_range("2020", periods=3, freq="A"), pd.date_range("2020", periods=3, tz="UTC")])
def test_times_as_labels_keep_their_type(labels):
    random, true = np.random.RandomState(0), np.arange(120) % 3
    X = true[:, None] + .1 * random.randn(120, 2)
    y = pd.Series(labels[np.where(random.rand(120) < .1, (true + 1) % 3, true)])
    found = clean(X, y)
    assert found.details["corrected"] > 0 and found.cleaned.dtype == y.dtype
    assert (found.cleaned == pd.Series(labels[true])).mean() > .95


@pytest.mark.parametrize("dtype", ["category", "string", "object"])
def test_types_of_labels_are_kept(mixed, result, dtype):
    frame = mixed[0].assign(y=mixed[0]["y"].astype(dtype))
    found = clean(frame, "y").cleaned["y"]
    assert found.dtype == frame["y"].dtype and found.tolist() == result.cleaned["y"].tolist()


@pytest.mark.parametrize("dtype", ["int64", "Int64", "float64", "int8"])
def test_numbers_and_gaps(mixed, dtype):
    frame, true = mixed
    codes = pd.Categorical(frame["y"]).codes
    y = pd.Series(codes, index=frame.index).astype(dtype)
    gaps = dtype in ("Int64", "float64")
    if gaps:
        y.iloc[:20] = None
    found = clean(frame.drop(columns="y"), y)
    assert found.cleaned.dtype == y.dtype and found.cleaned.index.equals(y.index)
    assert found.cleaned.isna().sum() == (20 if gaps else 0)
    assert not found.issues["wrong"][:20].any() or not gaps
    assert (found.issues["suggestion"][:20] == pd.Categorical(true).codes[:20]).mean() > 0.8


def test_arrays(noisy):
    X, y, true, C = noisy
    few = np.flatnonzero(true < 3)
    X, y, true = X[few], y[few] % 3, true[few]
    found = clean(X, y)
    assert type(found.cleaned) is np.ndarray and found.cleaned.dtype == y.dtype
    assert (found.cleaned == true).mean() > 0.95 > (y == true).mean()
    assert (found.model.predict(X) == true).mean() > 0.95
    words = np.array(["one", "two", "three"])[y]
    assert clean(X, words).cleaned.dtype.kind == "U"
    assert clean(X, words.tolist(), checked={0: words[0]}).details["checked"] == 1


def test_labels_beside_a_table(mixed):
    frame = mixed[0]
    X, y = frame.drop(columns="y"), frame["y"]
    found = clean(X, y.to_frame()).cleaned
    assert found.equals(clean(X, y).cleaned)
    with pytest.raises(ValueError, match="reindex"):
        clean(X, y[::-1])
    assert clean(X, pd.Categorical(y)).cleaned.dtype == "category"
    masked = np.ma.masked_array(pd.Categorical(y).codes, np.arange(len(y)) < 4)
    assert clean(X, masked).cleaned.mask.sum() == 4
    infinite = X.assign(size=np.where(X.index == "r7", np.inf, 1.0))
    with pytest.raises(ValueError, match="'r7'"):
        clean(infinite, y)
    with pytest.warns(UserWarning, match="differ by spaces"):
        clean(X, y.replace({"b": "a"}))


def test_options(mixed):
    frame = mixed[0].assign(title=["x y z", "z w"] * 200)
    with pytest.raises(ValueError, match='two or more letters.*\(ignore_columns="title"\)$'):
        clean(frame, "y", text="title")  # follow the advice:
    found = clean(frame, "y", ignore_columns="title")
    assert "title" not in found.model.feature_names_in_ and "title" in found.cleaned
    frame["title"] = ["big red", "small red"] * 200
    assert clean(frame, "y", text=["title"], text_min_df=1).issues.shape == (400, 8)


def test_refused(mixed):
    frame = mixed[0]
    for given, word in (((frame,), "label"), ((frame, "z"), "'z'"), ((np.eye(3), "y"), "array"),
                        ((frame, [1, 2]), "400"), ((frame.assign(y=1), "y"), "1 class")):
        with pytest.raises(ValueError, match=word):
            clean(*given)
    for options, word in (({"ignore_columns": "zz"}, "no column 'zz', wanted one of"),
                          ({"name": 3}, "name: got number, want a text")):
        with pytest.raises(ValueError, match=word):
            clean(frame, "y", **options)
    with pytest.raises(TypeError):
        clean(frame, "y", colour="red")


def test_the_command_line_finds_the_same(mixed, shell, tmp_path):
    frame = mixed[0].drop(columns="when")
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = shell("clean", tmp_path / "t.csv", "--label", "y", "--dir", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = clean(pd.read_csv(tmp_path / "t.csv"), "y")
    assert found.model.model_ == (tmp_path / "out" / "model.npz").read_bytes()
    rows = pd.read_csv(tmp_path / "out" / "rows.csv")
    assert (rows["suggested_label"] == found.issues["suggestion"]).all()
    assert (rows["check_next"].fillna(0) == found.issues["review"].fillna(0)).all()
