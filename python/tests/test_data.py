"""What data and labels of Python become on the way to the program."""

import datetime

import numpy as np
import pytest
from scipy import sparse

from umagpu import _data

pandas = pytest.importorskip("pandas")
ROWS = 4
COLUMNS = {  # values of a column: kind, numbers or codes, levels
    "floats": ([1.5, None, 2.0, 3.0], "number", [1.5, np.nan, 2, 3], None),
    "Int64": (pandas.array([1, None, 3, 4], "Int64"), "number", [1, np.nan, 3, 4], None),
    "Float64": (pandas.array([1, None, 3, 4], "Float64"), "number", [1, np.nan, 3, 4], None),
    "objects": (np.array([1, None, 2.5, 3], object), "number", [1, np.nan, 2.5, 3], None),
    "bool": ([True, False, True, True], "number", [1, 0, 1, 1], None),
    "boolean": (pandas.array([True, None, False, True], "boolean"), "number", [1, np.nan, 0, 1], None),
    "bool objects": (np.array([True, None, False, True], object), "number", [1, np.nan, 0, 1], None),
    "category": (pandas.Categorical(["b", None, "a", "b"], ["z", "b", "a"]), "category",
                 [1, -1, 2, 1], ["z", "b", "a"]),
    "categories of numbers": (pandas.Categorical([2.0, 1.0, None, 2.0]), "category", [1, 0, -1, 1],
                              ["1", "2"]),
    "texts": (["b ", None, "b", ""], "category", [0, -1, 1, 2], ["b ", "b", ""]),
    "string": (pandas.array(["b", None, "a", "b"], "string"), "category", [0, -1, 1, 0], ["b", "a"]),
    "texts and numbers": (np.array(["?", 1, 2.0, None], object), "category", [0, 1, 2, -1],
                          ["?", "1", "2"]),
    "nothing": (np.array([None] * 4, object), "category", [-1] * 4, []),
    "times": (pandas.to_datetime([86400, None, -86400, 0.5], unit="s"), "date",
              [86400, np.nan, -86400, 0.5], None),
    "zones": (pandas.to_datetime(["1970-01-02"] * 4).tz_localize("Europe/Berlin"), "date", [82800] * 4,
              None),
    "dates": (np.array([pandas.Timestamp(1970, 1, 2).date(), None] * 2, object), "date",
              [86400, np.nan] * 2, None),
    "any year": (np.array([datetime.date(9999, 12, 31), None] * 2, object), "date",
                 [253402214400, np.nan] * 2, None),
    "zoned objects": (np.array([datetime.datetime(1970, 1, 2, tzinfo=datetime.timezone(
        datetime.timedelta(hours=1)))] * 4, object), "date", [82800] * 4, None),
    "zero bytes": (["a\0", "a", None, "a\0"], "category", [0, 1, -1, 0], ["a\0", "a"]),
    "durations": (pandas.to_timedelta([1, None, 2, 3], unit="min"), "number", [60, np.nan, 120, 180],
                  None),
    "periods": (pandas.PeriodIndex(["1970-01"] * 4, freq="M"), "date", [0] * 4, None),
    "infinite category": (pandas.Categorical([1.0, np.inf, None, 1.0]), "category", [0, 1, -1, 0],
                          ["1", "inf"]),
    "sparse": (pandas.arrays.SparseArray([0, 0, 1, np.nan]), "number", [0, 0, 1, np.nan], None),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name):
    values, kind, numbers, levels = COLUMNS[name]
    frame = pandas.DataFrame({"first": ["a"] * ROWS, name: values}, index=[7, 7, 8, 9])
    data = _data.data_of(frame)
    column = data.part["table"]["columns"][1]
    assert (column["name"], column["kind"], column.get("levels")) == (name, kind, levels)
    found = data.arrays["data.table.columns.1." + ("codes" if kind == "category" else "numbers")]
    assert np.array_equal(found, numbers, equal_nan=kind != "category")


@pytest.mark.parametrize("values, error, message", [
    ([1 << 60, (1 << 60) + 1], ValueError, "column 'x'.*1152921504606846977.*2\\*\\*53"),
    ([1j, 2j], ValueError, "Complex data not supported"),
    (["1", 1], ValueError, "both the text '1' and the number"),
    (pandas.Categorical(["1", 1], ["1", 1]), ValueError, "both the text '1' and the number"),
    ([(1 << 53) + 1, 0], ValueError, "9007199254740993.*2\\*\\*53"),
    ([{}, "a"], TypeError, "'x'.*type dict"),
])
def test_columns_refused(values, error, message):
    with pytest.raises(error, match=message):
        _data.data_of(pandas.DataFrame({"x": values, "y": ["a", "b"]}))


def test_frames():
    frame = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match="column 'a' twice"):
        _data.data_of(frame)
    data = _data.data_of(pandas.DataFrame({("a", 1): [1, 2], ("a", 2): [3., 4.]}))
    assert [c["name"] for c in data.part["table"]["columns"]] == ["('a', 1)", "('a', 2)"]
    table = _data.data_of(pandas.DataFrame({"t": ["a ü", None]}), text=["t"])
    assert table.part["table"] == {"columns": [{"name": "t", "kind": "category", "levels": ["a ü"]}],
                                   "text": ["t"]}
    assert table.arrays["data.table.columns.0.codes"].tolist() == [0, -1]
    sparse_frame = pandas.DataFrame.sparse.from_spmatrix(sparse.eye(3, format="csr"), columns=list("abc"))
    assert _data.data_of(sparse_frame).arrays["data.matrix.starts"].tolist() == [0, 1, 2, 3]
    chosen = _data.data_of(pandas.DataFrame({"c": pandas.Categorical([1, 2]), "t": ["a", "b"]}))
    assert chosen.part["table"]["categories"] == ["c"]


@pytest.mark.parametrize("X, name, want", [
    (np.array([[1, 2]], np.int64), "float64", [[1, 2]]),
    (np.array([[True, False]]), "uint8", [[1, 0]]),
    (np.array([[1, 2]], np.float16), "float32", [[1, 2]]),
    (np.array([[1, 2]], np.longdouble), "float64", [[1, 2]]),
    (np.array([[1, 2.5]], object), "float64", [[1, 2.5]]),
    ([[1, 2], [3, 4]], "float64", [[1, 2], [3, 4]]),
])
def test_arrays(X, name, want):
    assert _data.data_of(X).arrays[f"data.matrix.{name}"].tolist() == want


def test_arrays_are_as_their_frames():
    """Texts that look like numbers stay texts, times have no unit, and numbers are held or refused."""
    for values in ([["007", 1], ["7", 2]], [["007", "1"], ["7", "2"]]):
        found = _data.data_of(values).part["table"]["columns"][0]
        assert found == _data.data_of(np.array(values, object)).part["table"]["columns"][0]
        assert (found["kind"], found["levels"]) == ("category", ["007", "7"])
    days = np.array([["1970-01-02", "NaT"]], "M8[D]")
    for times in (days, days.astype("M8[ns]")):
        assert _data.data_of(times).arrays["data.table.columns.0.numbers"].tolist() == [86400]
        assert np.isnan(_data.data_of(times).arrays["data.table.columns.1.numbers"]).all()
    for large in ([[(1 << 53) + 1]], np.array([[(1 << 60) + 1]], object), np.array([[1 << 2000]], object)):
        with pytest.raises(ValueError, match="float64 holds"):
            _data.data_of(large)


@pytest.mark.parametrize("fill, values", [(np.nan, [1, np.nan, 2]), (5, [5, 5, 1]), ("", ["a", "", ""])])
def test_sparse_frames_of_any_fill(fill, values):
    one = pandas.Series(values, dtype=object if fill == "" else float)
    frame = pandas.DataFrame({"a": pandas.arrays.SparseArray(one, fill_value=fill), "b": [0, 1, 2]})
    column = _data.data_of(frame[["a"]])
    dense = _data.data_of(frame[["a"]].sparse.to_dense())
    assert column.part == dense.part and all(
        np.array_equal(column.arrays[at], dense.arrays[at], equal_nan=fill != "") for at in dense.arrays)


def test_gaps_of_arrays():
    hidden = np.ma.masked_array([[1, 2], [3, 4]], [[0, 1], [0, 0]])
    for X in (hidden, [[1, np.nan], [3, 4]], np.array([[1, pandas.NA], [3, 4]], object), [[1, None], [3, 4]]):
        found = _data.data_of(X).arrays["data.matrix.float64"]
        assert np.array_equal(found, [[1, np.nan], [3, 4]], equal_nan=True)
    words = _data.data_of(np.array([["a", 1], ["b", 2]], object)).part["table"]["columns"]
    assert [(c["name"], c["kind"]) for c in words] == [("x0", "category"), ("x1", "number")]


@pytest.mark.parametrize("y, classes, codes", [
    (["b", None, "a", "a "], ["a", "a ", "b"], [2, -1, 0, 1]),
    ([" <=50K", "", "1_0"], ["", " <=50K", "1_0"], [1, 0, 2]),
    ([2, 1, np.nan], [1, 2], [1, 0, -1]),
    (np.array([0., 1., np.nan]), [0., 1.], [0, 1, -1]),
    ([True, False, None], [False, True], [1, 0, -1]),
    (pandas.array([3, None, 1], "Int64"), [1, 3], [1, -1, 0]),
    (pandas.Series(["x", pandas.NA], dtype="string", index=[3, 3]), ["x"], [0, -1]),
    (pandas.Categorical([7, None, 5], [9, 7, 5]), [5, 7], [1, -1, 0]),
    (pandas.Series(pandas.Categorical(["u"])), ["u"], [0]),
    (np.ma.masked_array([1, 2, 3], [0, 1, 0]), [1, 3], [0, -1, 1]),
    ([2**63, 1, 2**64], [1, 2**63, 2**64], [1, 0, 2]),
    (np.array([2, 1], object), [1, 2], [1, 0]),
    (np.array(["a\0", "a", "b"], object), ["a", "a\0", "b"], [1, 0, 2]),
])
def test_labels(y, classes, codes):
    found = _data.labels_of(y)
    assert found.classes.tolist() == classes and found.codes.tolist() == codes
    assert [type(c) for c in found.classes.tolist()] == [type(c) for c in classes]
    assert len(set(found.names)) == len(classes)


@pytest.mark.parametrize("y, message", [
    ([1, "a"], "int and str"), ([True, 1], "bool and int"), ([1.5, 2], "continuous"),
    ([1., np.inf], "continuous; found inf"),
    (pandas.MultiIndex.from_arrays([[1], [2]]), "type tuple"), (np.zeros(2, [("a", int)]), "records of a"),
    ([[1, 2], [3, 4]], "should be a 1d array"), ([{}, {}], "type dict"), ([1j, 2j], "Complex"),
])
def test_labels_refused(y, message):
    with pytest.raises(ValueError, match=message):
        _data.labels_of(y)


@pytest.mark.parametrize("votes", [
    [["x", None], ["y", "x"]], pandas.DataFrame([["x", np.nan], ["y", "x"]], columns=["0", "1"]),
    pandas.DataFrame([[0, pandas.NA], [1, 0]]).astype("Int64"), np.array([[0, -1], [1, 0]]),
    np.ma.masked_array([[0, 1], [1, 0]], [[0, 1], [0, 0]]), np.array([[0, pandas.NA], [1, 0]], object)])
def test_votes(votes):
    labels, part, arrays, rows = _data.votes_of(votes)
    assert labels.classes.tolist() in (["x", "y"], [0, 1]) and rows == 2
    assert part == {"votes": {"names": ["0", "1"]}}
    assert {name: a.tolist() for name, a in arrays.items()} == {
        "votes.rows": [0, 1, 1], "votes.by": [0, 0, 1], "votes.codes": [0, 1, 0]}


@pytest.mark.parametrize("values, found", [
    (np.array([1j]), "complex128"), (pandas.to_datetime(["2020"]), "datetime64"), ({0: 1.}, "{0: 1.0}")])
def test_numbers_refused(values, found):
    """numpy would drop the imaginary part, and the unit of times."""
    with pytest.raises(ValueError, match=f"w: found .*{found}.*wanted numbers"):
        _data.real(values, "w")


@pytest.mark.parametrize("values", [
    np.ma.masked_array([1., 2.], [0, 1]), pandas.array([1, None], "Int64"), [1, None],
    np.array([1, pandas.NA], object)])
def test_gaps_of_numbers(values):
    assert np.array_equal(_data.real(values, "w"), [1, np.nan], equal_nan=True)


def test_votes_in_rows():
    votes = pandas.DataFrame({"task_id": [0, 0], "annotator": ["u", "v"], "label": [1, 1]})
    with pytest.raises(ValueError, match="a vote in each row.*pivot"):
        _data.votes_of(votes)


def test_confusion():
    labels = _data.labels_of([0, 1, 2])
    C = np.array([[.7, 0, .3], [.3, .7, 0], [0, .3, .7]])
    for index in ([0, 1, 2], ["0", "1", "2"]):
        frame = pandas.DataFrame(C, index, index).iloc[[2, 0, 1], [1, 0, 2]]
        part, arrays = _data.confusion_of(frame, labels)
        assert part == {} and np.array_equal(arrays["confusion.p"], C)
    named = frame.rename_axis(index="true")
    assert _data.confusion_of(named, labels)[0] == {"confusion_axes": "true-rows"}
    for bad, message in ((frame.iloc[:2], "rows.*wanted the classes"), (np.eye(2), "shape"),
                         ("estimat", "wanted None, 'estimate'"), (named.rename_axis(columns="true"), "both")):
        with pytest.raises(ValueError, match=message):
            _data.confusion_of(bad, labels)


def test_probabilities():
    labels, soft = _data.soft_of(pandas.DataFrame([[.2, .8]], columns=[1, 0]))
    assert labels.classes.tolist() == [0, 1] and soft.tolist() == [[np.float32(.8), np.float32(.2)]]
    for bad, message in (([1, 0], "shape"), (pandas.DataFrame([[1, 0]], columns=["a", "a"]), "different")):
        with pytest.raises(ValueError, match=message):
            _data.soft_of(bad)
