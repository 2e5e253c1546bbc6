"""Data and labels of Python as the program takes them: parts of a request, and their arrays."""

from __future__ import annotations

import datetime
import inspect
import math
from typing import Any, NamedTuple, Optional

import numpy as np
import pandas
from pandas.api import types
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array

from ._worker import warn

FINITE = next(name for name in ("ensure_all_finite", "force_all_finite")  # before scikit-learn 1.6
              if name in inspect.signature(check_array).parameters)
EXACT = ("wanted whole numbers that float64 holds, up to 2**53; subtract the least of them, or give "
         "names as texts")
ROLES = {"item": ("item", "example", "row", "task", "question", "instance"),
         "worker": ("worker", "annotator", "user", "rater", "labeler", "labeller", "coder"),
         "label": ("label", "answer", "vote", "response", "class", "rating", "annotation")}
COMPLEX = "Complex data not supported; give the real and imaginary parts"


class Data(NamedTuple):
    """Examples: the field "data" of a request, and its arrays by their paths."""

    part: dict[str, Any]
    arrays: dict[str, Any]
    rows: int


class Labels(NamedTuple):
    """Classes in the order of np.unique, the place of each label among them, and wire names."""

    classes: Any
    codes: Any  # int32, -1 without a label
    names: list[str]


def wire(value: Any) -> str:
    """Return the name of a value: 2.0 is "2", as in files."""
    if isinstance(value, (float, np.floating)) and np.isfinite(value) and value == math.floor(value):
        value = int(value)
    return str(value).encode("utf-8", "backslashreplace").decode()


def names_of(values: Any, where: str = "") -> list[str]:
    """Return a unique name for each value.

    If where is given, raise a ValueError that begins with it when two values have the same name.
    """
    values = np.asarray(values)
    if values.dtype.kind in "mM":
        values = values.astype(str)
    names: dict[str, None] = {}
    for value in values.tolist():
        name = wire(value)
        if name in names and where:
            raise ValueError(f"{where}: found both the text {name!r} and the number, wanted one of them")
        while name in names:
            name += "'"
        names[name] = None
    return list(names)


def real(values: Any, what: str) -> Any:
    """Return numbers as float64: NaN where they are masked, None or pd.NA. Others are refused."""
    values = values.toarray() if hasattr(values, "tocsr") else framed(values)
    hidden = _hidden(values) if isinstance(values, np.ma.MaskedArray) else False
    plain = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if plain.dtype == object:
        plain = np.where(absent(plain.ravel()).reshape(plain.shape), np.nan, plain)
    if plain.dtype.kind in "cmM" or types.infer_dtype(plain.ravel()) == "complex":
        raise ValueError(f"{what}: found values of type {plain.dtype}, wanted numbers")
    try:
        return np.where(hidden, np.nan, plain.astype(np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"{what}: found {values!r:.200}, wanted numbers") from None


def another_order(**given: Any) -> Optional[tuple[str, str]]:
    """Return the names of the first Series or DataFrame and of another one whose index has the same
    rows in another order; None if there is none."""
    indexed = [(name, v) for name, v in given.items() if isinstance(getattr(v, "index", None), pandas.Index)]
    for name, other in indexed[1:]:
        first, order = indexed[0][0], indexed[0][1].index
        if len(other) == len(order) and not other.index.equals(order) and set(other.index) == set(order):
            return first, name
    return None


def same_rows(**given: Any) -> None:
    """Refuse Series and DataFrames whose index has the same rows in another order."""
    if found := another_order(**given):
        first, other = found
        raise ValueError(f"{other}: found the index of {first} in another order, wanted "
                         f"{other}.reindex({first}.index), or by position {other}.set_axis({first}.index)")


def is_frame(X: Any) -> bool:
    """Return whether X is a DataFrame of pandas."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def framed(X: Any) -> Any:
    """Return X, as a DataFrame of pandas if it is one of another library."""
    if is_frame(X) or not hasattr(X, "columns"):
        return X
    return X.to_pandas() if hasattr(X, "to_pandas") else pandas.api.interchange.from_dataframe(X)


def data_of(X: Any, **options: Any) -> Data:
    """Return the examples X: a DataFrame of any columns, an array, a sparse matrix or a list.

    options are of a table, such as text=["title"].
    """
    X, options = framed(X), {name: value for name, value in options.items() if value is not None}
    if not is_frame(X):
        X = numbers_of(X)
        if not is_frame(X):
            if not options:
                return _matrix(X, None)
            X = pandas.DataFrame(X).add_prefix("x")
    names = different(X.columns, "X")
    if 0 in X.shape:
        check_array(np.empty(X.shape))  # raises
    if not options and all(isinstance(t, pandas.SparseDtype) and types.is_numeric_dtype(t.subtype)
                           and t.fill_value == 0 for t in X.dtypes):
        return _matrix(X.sparse.to_coo().tocsr(), names)
    return _table(X, names, options)


def different(columns: Any, what: str) -> list[str]:
    """Return the names of columns, which must be different."""
    names = [wire(c) for c in columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{what}: found column {twice[0]!r} twice, wanted different names")
    return names


def numbers_of(X: Any) -> Any:
    """Return an array of numbers or a sparse matrix; a DataFrame, if X is an array of words too."""
    if isinstance(X, np.ma.MaskedArray):
        X = np.where(_hidden(X), np.nan, X.data)
    if isinstance(X, pandas.Series):
        raise ValueError("X: Expected 2D array, got a Series, wanted a DataFrame: series.to_frame() of a "
                         "column, series.to_frame().T of a row")
    if isinstance(X, (list, tuple)):
        array = np.asarray(X)
        X = np.array(X, dtype=object) if array.dtype.kind == "U" else array
    kind = X.dtype.kind if isinstance(X, np.ndarray) and X.ndim == 2 else ""
    if kind == "O":
        if any(isinstance(v, str) for v in X.flat):  # "007" is no 7, as in a DataFrame
            return pandas.DataFrame(X).infer_objects().add_prefix("x")
        if far := [v for v in X.flat if isinstance(v, int) and not abs(v) <= 1 << 53 and not _holds(v)]:
            raise ValueError(f"X: found {far[0]}, {EXACT}")
        X = np.where(absent(X.ravel()).reshape(X.shape), np.nan, X)
    elif kind and kind in "mM":  # a number of them would depend on their unit
        return pandas.DataFrame(X).add_prefix("x")
    try:
        return check_array(X, accept_sparse="csr", dtype="numeric", **{FINITE: "allow-nan"})
    except ValueError as error:
        if not str(error).startswith("could not convert") or X.ndim == 2:
            raise
        raise ValueError(f"X: found texts of shape {X.shape}, wanted a DataFrame") from None


def _matrix(X: Any, names: Optional[list[str]]) -> Data:
    """Return numbers of one type."""
    part = {"rows": X.shape[0], "columns": X.shape[1], **({"names": names} if names else {})}
    arrays, values = {}, X
    if hasattr(X, "tocsr"):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        values = X.data
        arrays["starts"] = X.indptr.astype(np.int64, copy=False)
        arrays["indices"] = X.indices.astype(np.int32, copy=False)
    if values.dtype == bool:
        values = values.view(np.uint8)
    elif values.dtype.kind == "f" and values.dtype.itemsize <= 4:
        values = values.astype(np.float32, copy=False)
    elif values.dtype != np.uint8:
        values = _exact(values, "X")
    arrays[values.dtype.name] = values
    return Data({"matrix": part}, {f"data.matrix.{name}": a for name, a in arrays.items()}, X.shape[0])


def _exact(values: Any, where: str) -> Any:
    """Return numbers as float64, if it holds them."""
    if values.dtype.kind == "c":
        raise ValueError(f"{where}: {COMPLEX}")
    numbers = values.astype(np.float64, copy=False)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and numbers.size:
        far = max(numbers.max(), -numbers.min()) >= 1 << 53
        if far and (numbers.astype(values.dtype) != values).any():
            wrong = values[numbers.astype(values.dtype) != values][0]
            raise ValueError(f"{where}: found {wrong}, {EXACT}")
    return numbers


def _holds(value: int) -> bool:
    """Return whether float64 holds a whole number."""
    return abs(value) < 1 << 1023 and int(float(value)) == value


def _table(X: Any, names: list[str], options: dict[str, Any]) -> Data:
    """Return columns of any kind. Those of a categorical type are chosen as categories."""
    text, chosen = options.get("text", []), list(options.get("categories", []))
    columns, arrays = [], {}
    for k, name in enumerate(names):
        values = X.iloc[:, k]
        kind, parts = _typed(f"X: column {name!r}", values)
        if hasattr(values.dtype, "categories") and name not in text + chosen:
            chosen.append(name)
        columns.append({"name": name, "kind": kind, **(
            {"levels": parts.pop("levels")} if "levels" in parts else {})})
        arrays.update({f"data.table.columns.{k}.{part}": a for part, a in parts.items()})
    if chosen:
        options = {**options, "categories": chosen}
    return Data({"table": {"columns": columns, **options}}, arrays, len(X))


def _typed(where: str, values: Any) -> tuple[str, dict[str, Any]]:
    """Return the kind of a column by its type, and its parts."""
    dtype = values.dtype
    if isinstance(dtype, pandas.SparseDtype):
        return _typed(where, values.sparse.to_dense())
    if isinstance(dtype, pandas.CategoricalDtype):
        if len(values.cat.categories) > len(values):
            values = values.cat.remove_unused_categories()
        levels = names_of(values.cat.categories, where)
        return "category", {"codes": values.cat.codes.to_numpy(np.int32), "levels": levels}
    if types.is_datetime64_any_dtype(dtype):
        if values.dt.tz is not None:
            values = values.dt.tz_convert("UTC").dt.tz_localize(None)
        return "date", {"numbers": _seconds(values.to_numpy("datetime64[us]"))}
    if types.is_timedelta64_dtype(dtype):
        return "number", {"numbers": values.dt.total_seconds().to_numpy(np.float64)}
    if isinstance(dtype, pandas.PeriodDtype):
        return _typed(where, values.dt.to_timestamp())
    if types.is_numeric_dtype(dtype):
        if isinstance(dtype, np.dtype):
            return "number", {"numbers": _exact(values.to_numpy(), where)}
        if types.is_integer_dtype(dtype):
            _exact(values.dropna().to_numpy(dtype.numpy_dtype), where)
        return "number", {"numbers": values.to_numpy(np.float64, na_value=np.nan)}
    return _inferred(where, values)


def _inferred(where: str, values: Any) -> tuple[str, dict[str, Any]]:
    """Return the kind of a column of texts or objects by its values, and its parts."""
    kind = types.infer_dtype(values, skipna=True)
    if kind not in ("string", "empty"):
        better = values.infer_objects().convert_dtypes()
        if better.dtype != object:
            return _typed(where, better)
        if kind == "decimal":
            return _typed(where, values.astype(np.float64))
        if kind in ("datetime", "date"):  # of any year, unlike those of pandas
            times = [v.astimezone(datetime.timezone.utc).replace(tzinfo=None)
                     if getattr(v, "tzinfo", None) else v for v in values.where(values.notna(), None)]
            return "date", {"numbers": _seconds(np.array(times, "datetime64[us]"))}
        given = values.dropna()
        words = {v for v in given if isinstance(v, str)}
        for v in given:
            if not isinstance(v, (str, bool, int, float, np.generic)) and kind != "interval":
                raise TypeError(f"{where}: found a value of type {type(v).__name__}, wanted texts, numbers, "
                                "booleans or times")
            if not isinstance(v, str) and wire(v) in words:
                raise ValueError(f"{where}: found both the text {wire(v)!r} and the number, wanted one "
                                 "of them")
        values = values.map(wire, na_action="ignore")
    given = ~absent(values)
    codes = np.full(len(values), -1, np.int32)
    codes[given], levels = _coded(values[given].tolist())
    return "category", {"codes": codes, "levels": [wire(v) for v in levels]}


def _coded(values: list[Any]) -> tuple[Any, list[Any]]:
    """Return the place of each value among the different ones, and these as they come.

    pandas.factorize takes "a" and "a\\0" for one.
    """
    at: dict[Any, int] = {}
    codes = np.fromiter((at.setdefault(v, len(at)) for v in values), np.int32, len(values))
    return codes, list(at)


def _seconds(times: Any) -> Any:
    """Return times in microseconds as seconds since 1970."""
    return np.where(np.isnat(times), np.nan, times.astype(np.int64) / 1e6)


def absent(values: Any) -> Any:
    """Return which of some values are None, NaN, NaT or pd.NA."""
    return np.asarray(pandas.isna(values))


def labels_of(y: Any, classes: Any = None, what: str = "y") -> Labels:
    """Return labels; None, NaN, NaT and pd.NA are none. classes are those of a model, else y's own."""
    given, gaps = _values(y, what)
    own, codes = _unique(given, what)
    if classes is None:
        classes, place = own, np.arange(len(own))
    else:
        classes = np.asarray(classes)
        at = {c: k for k, c in enumerate(classes.tolist())}
        place = np.array([at.get(c, -1) for c in own.tolist()], int)
        if (place < 0).any():
            raise ValueError(f"{what}: found class {own[place < 0][0]!r}, wanted one of "
                             f"{classes.tolist()}")
    found = np.full(len(gaps), -1, np.int32)
    found[~gaps] = place[codes]
    return Labels(classes, found, names_of(classes))


def _values(y: Any, what: str) -> tuple[Any, Any]:
    """Return the labels that are given, and which are not."""
    y = y.to_pandas() if hasattr(y, "to_pandas") else y  # of polars or pyarrow
    hidden: Any = False
    if isinstance(y, np.ma.MaskedArray):
        hidden, y = _hidden(y).ravel(), y.data
    elif isinstance(y, (list, tuple)):
        y = np.array(y, dtype=object)
    elif not hasattr(y, "dtype") and not is_frame(y):
        y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warn(f"A column-vector {what} was passed when a 1d array was expected", DataConversionWarning)
        y = y.iloc[:, 0] if is_frame(y) else y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"{what} should be a 1d array, got an array of shape {y.shape} instead.")
    y = y.to_numpy() if isinstance(y, pandas.MultiIndex) else y
    if getattr(y.dtype, "names", None):
        raise ValueError(f"{what}: found records of {', '.join(y.dtype.names)}, wanted one label each")
    gaps = absent(y) | hidden
    given = y[~gaps]
    if isinstance(y.dtype, np.dtype):
        return np.asarray(given), gaps
    if isinstance(y.dtype, pandas.CategoricalDtype):
        return np.asarray(y.dtype.categories)[pandas.Categorical(given).codes], gaps
    return np.array(given.tolist(), dtype=object if types.is_string_dtype(y.dtype) else None), gaps


def _hidden(array: Any) -> Any:
    """Return which values of an array are masked."""
    return np.broadcast_to(array.mask, array.shape)


def _unique(given: Any, what: str) -> tuple[Any, Any]:
    """Return the classes of labels, in their order and of their type, and the place of each label."""
    kind = types.infer_dtype(given) if given.dtype == object else ""
    if given.dtype.kind == "c" or kind == "complex":
        raise ValueError(f"{what}: {COMPLEX}")
    if kind in ("integer", "floating", "mixed-integer-float", "boolean"):
        plain = np.array(given.tolist())
        if kind != "integer" or plain.dtype.kind in "iu":  # else too large for a type
            return _unique(plain, what)
    if given.dtype != object:
        classes, codes = np.unique(given, return_inverse=True)
        odd = classes[~np.isfinite(classes) | (classes != np.floor(classes))] if given.dtype.kind == "f" else []
        if len(odd):
            raise ValueError(f"{what}: Unknown label type: continuous; found {odd[0]}, wanted whole "
                             "numbers or texts")
        return classes, codes.ravel()
    if kind.startswith("mixed") or kind == "unknown-array":
        kinds = sorted({type(v).__name__ for v in given})
        raise ValueError(f"{what}: found labels of type {' and '.join(kinds)}, wanted texts, or numbers, "
                         "or booleans")
    codes, found = _coded(given.tolist())
    order = sorted(range(len(found)), key=found.__getitem__)
    classes = np.empty(len(found), object)
    classes[:] = [found[k] for k in order]
    return classes, np.argsort(order)[codes]


def roles_of(columns: Any) -> Optional[list[Any]]:
    """Return the columns of items, workers and labels by their names; None if one has no such name."""
    found: dict[str, list[Any]] = {role: [] for role in ROLES}
    for column in columns:
        word = str(column).lower().replace("-", "_").strip()
        for end in ("_id", " id", "id", "_name", "s"):
            word = word[:-len(end)] if word.endswith(end) and len(word) > len(end) else word
        for role, words in ROLES.items():
            if word.rstrip("_ ") in words:
                found[role].append(column)
    unique = len(set(columns)) == len(columns) and all(len(some) == 1 for some in found.values())
    return [some[0] for some in found.values()] if unique else None


def votes_of(annotations: Any, what: str = "annotations", **options: Any,
             ) -> tuple[Labels, dict[str, Any], dict[str, Any], int]:
    """Return the classes of votes, the field "votes" of labels, its arrays, and the number of rows.

    Each annotator or labelling function has a column; None, NaN, pd.NA and the number -1 abstain.
    """
    table = framed(annotations)
    if is_frame(table):
        if long := roles_of(table.columns):
            item, worker, label = long
            raise ValueError(f"{what}: found a vote in each row, by the names of its columns, wanted a row for "
                             f"each row of X and a column for each annotator: table.pivot(index={item!r}, "
                             f"columns={worker!r}, values={label!r})")
        voters, table = different(table.columns, what), table.astype(object).to_numpy()
    else:
        table = table if isinstance(table, np.ndarray) else np.array(table, dtype=object)
        if table.ndim != 2:
            raise ValueError(f"{what}: found an array of shape {table.shape}, wanted a row for each "
                             "example and a column for each annotator")
        voters = [str(k) for k in range(table.shape[1])]
    flat = table.ravel().astype(object)
    gaps = absent(flat)
    gaps[~gaps] = flat[~gaps] == -1
    flat[gaps] = None
    labels = labels_of(flat, what=what)
    where = np.flatnonzero(labels.codes >= 0)
    if not len(where):
        raise ValueError(f"{what}: found no label, wanted at least one")
    rows, by = np.divmod(where.astype(np.int32), np.int32(len(voters)))
    return labels, {"votes": {"names": voters, **options}}, {
        "votes.rows": rows, "votes.by": by, "votes.codes": labels.codes[where]}, len(table)


def soft_of(probabilities: Any) -> tuple[Labels, Any]:
    """Return the classes of probabilities, by the columns' names or else 0, 1, ..., and n×Q float32."""
    probabilities = framed(probabilities)
    if len(shape := np.shape(probabilities)) != 2:
        raise ValueError(f"probabilities: found shape {shape}, wanted a row for each example and a "
                         "column for each class")
    columns = probabilities.columns if is_frame(probabilities) else np.arange(shape[1])
    labels = labels_of(columns, what="probabilities")
    if len(labels.classes) < shape[1]:
        raise ValueError(f"probabilities: found columns {list(columns)}, wanted different classes")
    values = real(probabilities, "probabilities").astype(np.float32)
    return labels, np.ascontiguousarray(values[:, np.argsort(labels.codes)])


def confusion_of(confusion: Any, labels: Labels, axes: Optional[str] = None) -> Any:
    """Return the field "confusion" of a request and its array, in the order of the classes.

    P(noisy = row | true = column), or counts. Rows and columns of a DataFrame are found by name; an
    axis that is named "true" or "noisy" tells which is which.
    """
    confusion = framed(confusion)
    q = len(labels.classes)
    if is_frame(confusion):
        named = [str(axis.name).lower() for axis in (confusion.index, confusion.columns)]
        if axes is None and ("true" in named or "noisy" in named):
            if named[0] == named[1]:
                raise ValueError(f"confusion: found both axes named {named[0]!r}, wanted true and noisy")
            axes = "true-rows" if named[0] == "true" or named[1] == "noisy" else "true-columns"
        order = [_places(axis, labels, what) for axis, what in
                 ((confusion.index, "row"), (confusion.columns, "column"))]
        confusion = confusion.to_numpy()[np.ix_(*order)]
    if isinstance(confusion, (str, dict)):
        raise ValueError(f"confusion: found {confusion!r}, wanted None, 'estimate', an array or a "
                         "DataFrame of numbers")
    matrix = real(confusion, "confusion")  # NaN is refused
    if matrix.shape != (q, q):
        raise ValueError(f"confusion: found an array of shape {matrix.shape}, wanted {(q, q)}, for the "
                         f"classes {', '.join(labels.names)}; a DataFrame names the classes of others")
    return {"confusion_axes": axes} if axes else {}, {"confusion.p": matrix}


def _places(axis: Any, labels: Labels, what: str) -> list[int]:
    """Return where an axis of a DataFrame has each class, by its value or else its name."""
    for have, want in ((axis.tolist(), labels.classes.tolist()), (names_of(axis), labels.names)):
        if len(have) == len(set(have)) and set(have) == set(want):
            return [have.index(c) for c in want]
    raise ValueError(f"confusion: found {what}s {axis.tolist()}, wanted the classes "
                     f"{labels.classes.tolist()}")
