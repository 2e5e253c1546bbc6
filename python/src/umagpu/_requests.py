"""Requests of functions on examples with labels."""

from __future__ import annotations

import datetime
import re
from typing import Any, Optional

import numpy as np
import pandas

from ._data import Labels, confusion_of, data_of, framed, is_frame, labels_of, wire
from ._worker import Error, call, warn

# What functions of the program are called here, where that differs.
NAMES = {"estimate_noise": "estimate_confusion", "find_issues": "find_label_issues"}
ESTIMATORS = ("train", "fit_kernel_map", "prediction_sets")  # whose settings are a dict
# Fields of a request for a training, and of its table; what else is chosen is the learner's.
SETTINGS = frozenset((
    "learner", "max_steps", "weights", "seed", "time", "normalize", "kernel", "gamma", "coef0",
    "degree", "components", "landmarks", "normalize_components", "hold_out", "trust_confusion"))
TABLE = frozenset(("text", "categories", "missing", "levels", "knots", "text_features", "text_min_df",
                   "text_ngrams", "storage"))
# Options of a call.
HOW = frozenset(("device", "verbose", "page"))
# Settings that a request lacks where they are 0.
FROM_ONE = frozenset(("components", "degree", "levels", "text_features", "text_min_df", "folds", "k", "time"))
PLAIN = (str, int, float, bool, list, tuple, dict, np.generic, np.ndarray, pandas.Index)
MATRICES = ("confusion", "counts", "matrices")  # whose rows are classes


def settings_of(chosen: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of a training as fields of its request, and those of its table.

    None leaves a setting to the program.
    """
    request: dict[str, Any] = {}
    table, parameters = {}, {}
    for name, value in chosen.items():
        if value is None:
            continue
        if isinstance(value, float) and not np.isfinite(value):
            raise ValueError(f"{name}: found {value}, wanted a finite number")
        if not isinstance(value, PLAIN):
            raise ValueError(f"{name}: found a value of type {type(value).__name__}, wanted a number or a text")
        if name in TABLE:
            table[name] = names_of_columns(name, value) if name in ("text", "categories") else above(name, value)
        elif name in SETTINGS:
            request[name] = str(value) if name in ("gamma", "landmarks") else above(name, value)
        else:
            parameters[name] = value
    if parameters:
        request["parameters"] = parameters
    return request, table


def above(name: str, value: Any) -> Any:
    """Return a value, which is not 0 where the program takes 0 for none."""
    if name in FROM_ONE and value == 0 and not isinstance(value, bool):
        raise ValueError(f"{name}: found {value}, wanted a number above 0, or None for the usual one")
    return value


def names_of_columns(what: str, value: Any) -> list[str]:
    """Return the name of a column, or names of several, as the program knows them."""
    if isinstance(value, (bool, float, dict)):
        raise ValueError(f"{what}: found {value!r}, wanted names of columns")
    return [wire(v) for v in ([value] if isinstance(value, (str, int, np.generic)) else value)]


def with_classes(y: Any, confusion: Any, what: str = "y") -> Labels:
    """Return labels with the classes of their confusion too, if it has more: those that a DataFrame
    names, or 0, 1, ... of an array."""
    labels = labels_of(y, what=what)
    if is_frame(confusion):
        classes = labels_of(confusion.columns, what="confusion").classes
    elif np.ndim(confusion) == 2 and labels.classes.dtype.kind in "iu":
        classes = np.arange(len(confusion), dtype=labels.classes.dtype)
    else:
        return labels
    more = set(labels.classes.tolist()) < set(classes.tolist())
    return labels_of(y, classes, what) if more else labels


def same_length(what: str, found: int, rows: int, each: str = "row of X") -> None:
    """Refuse evidence of other rows than those of X."""
    if found != rows:
        raise ValueError(f"{what}: found {found} rows, wanted {rows}, one for each {each}")


def listed(columns: Any) -> list[Any]:
    """Return names of columns as a list, of one name too."""
    return [columns] if isinstance(columns, (str, tuple, int, np.generic)) else list(columns or ())


def without(X: Any, ignored: Any) -> Any:
    """Return a DataFrame without the columns to ignore."""
    X, ignored = framed(X), listed(ignored)
    if not is_frame(X):
        raise ValueError(f"ignore_columns: found {ignored} beside an array, wanted a DataFrame, whose "
                         "columns have names")
    if unknown := [name for name in ignored if name not in X.columns]:
        raise ValueError(f"ignore_columns: found no column {unknown[0]!r}, wanted one of {list(X.columns)}")
    return X.drop(columns=ignored)


def index_of(X: Any) -> Any:
    """Return what rows are called: the index of a DataFrame, or numbers from 0."""
    return X.index if is_frame(X) else pandas.RangeIndex(np.shape(X)[0])


def named(classes: Any, codes: Any) -> Any:
    """Return the class of each code, None where it is below 0."""
    known = (codes >= 0).all()
    return classes[codes] if known else np.array([*classes, None], object)[np.maximum(codes, -1)]


def page_of(X: Any, name: Optional[str], code: str, again: str = "") -> dict[str, Any]:
    """Return a request for pages on the data X that the code has made."""
    return {"name": name or "data", "date": datetime.date.today().isoformat(), "call": code,
            "again": again, "index": [str(i) for i in index_of(X)],
            "rows": "Rows are called by the index of the DataFrame." if is_frame(X) else
                    "Rows are counted from 0."}


def request_of(X: Any, labels: Labels, confusion: Any = None, options: Optional[dict[str, Any]] = None,
               **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a request on examples X with labels, and its arrays; X is None for labels alone.

    Options are settings of a training and of a table; fields are others of the request, None for
    none.
    """
    options = dict(options or {})
    fields = {**fields, **{name: options.pop(name) for name in ("folds",) if name in options}}
    if ignored := options.pop("ignore_columns", None):
        X = without(X, ignored)
    settings, table = settings_of(options)
    request = {**settings, "labels": {"classes": labels.names},
               **{name: above(name, value) for name, value in fields.items() if value is not None}}
    arrays = {"labels.codes": labels.codes}
    spaces: dict[str, str] = {}
    for name in labels.names:
        if (other := spaces.setdefault(name.strip(), name)) != name:
            warn(f"labels: the classes {other!r} and {name!r} differ by spaces alone; they are two")
    if X is not None:
        data = data_of(X, **table)
        request["data"] = data.part
        arrays.update(data.arrays)
    if confusion is not None:
        request["confusion"], matrix = confusion_of(confusion, labels)
        arrays.update(matrix)
    return request, arrays


def noise_of(confusion: Any, labels: Labels) -> Any:
    """Return P(noisy = row | true = column) of an array or a DataFrame, as the program takes it."""
    part, arrays = confusion_of(confusion, labels)
    request = {"labels": {"classes": labels.names}, "counts": part}
    arrays = {"labels.codes": labels.codes, "counts.p": arrays["confusion.p"]}
    return np.array(ask("estimate_noise", request, arrays, keywords={"counts": "confusion"})["confusion"])


def asked(function: str, X: Any, labels: Labels, confusion: Any, options: dict[str, Any],
          arrays: Optional[dict[str, Any]] = None, **fields: Any) -> dict[str, Any]:
    """Call a function on examples X with labels. Options may be of the call too; arrays are more of
    the request's."""
    how = {name: options[name] for name in HOW & set(options)}
    options = {name: value for name, value in options.items() if name not in how}
    request, own = request_of(X, labels, confusion, options, **fields)
    return ask(function, request, {**own, **(arrays or {})}, X, **how)


def ask(function: str, request: dict[str, Any], arrays: dict[str, Any], X: Any = None,
        keywords: Optional[dict[str, str]] = None, kept: Any = None, **how: Any) -> dict[str, Any]:
    """Call a function on the data X, or on the rows kept of it. An unknown keyword is a TypeError;
    errors call rows by their number in X and by the index of a DataFrame too, and fields of the
    request by keywords."""
    try:
        return call(function, request, arrays, **how)
    except Error as error:
        unknown = re.search('unknown field "(.*?)"', str(error))
        wrong = unknown[1] if unknown else error.fault.get("option", "")
        if (unknown or wrong == "parameters") and function not in ESTIMATORS:
            got = error.fault.get("got", "")
            if wrong == "parameters":
                wrong = got.strip('"') if got[:1] == '"' else min(request[wrong])
            called = "compare" if "compare" in request else NAMES.get(function, function)
            raise TypeError(f"{called}() got an unexpected keyword argument {wrong!r}") from None
        if unknown:
            raise ValueError(f"options: found {wrong!r}, which is no setting of {function}") from None
        keyword = {"data": "X", "probabilities": "pred_probs", **(keywords or {})}.get(wrong, wrong)
        if error.message.startswith(wrong):
            error.message = keyword + error.message[len(wrong):]
        found = re.search(r'(?<!")\brow (\d+)', error.message) if wrong not in MATRICES else None
        row = int(found[1]) if found else -1
        if kept is not None and found:
            row = error.fault["row"] = int(kept[row])
            error.message = f"{error.message[:found.start()]}row {row}{error.message[found.end():]}"
        if is_frame(X) and 0 <= row < len(X) and not np.array_equal(X.index[row], row):
            error.message += f" (row {row} is {X.index.tolist()[row]!r} in the index)"
        error.args = (error.message,)
        raise
