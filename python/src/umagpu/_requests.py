"""Requests of functions on examples with labels."""

from __future__ import annotations

import datetime
import re
from typing import Any, Optional

import numpy as np
import pandas

from ._data import Labels, confusion_of, data_of, framed, is_frame, labels_of
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
        if name in TABLE:
            one = isinstance(value, str) and name in ("text", "categories")
            table[name] = [value] if one else value
        elif name in SETTINGS:
            request[name] = str(value) if name in ("gamma", "landmarks") else value
        else:
            parameters[name] = value
    if parameters:
        request["parameters"] = parameters
    return request, table


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


def same_length(what: str, found: int, rows: int) -> None:
    """Refuse evidence of other rows than those of X."""
    if found != rows:
        raise ValueError(f"{what}: found {found} rows, wanted {rows}, one for each row of X")


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
        X = framed(X).drop(columns=ignored)
    settings, table = settings_of(options)
    request = {**settings, "labels": {"classes": labels.names},
               **{name: value for name, value in fields.items() if value is not None}}
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
        keywords: Optional[dict[str, str]] = None, **how: Any) -> dict[str, Any]:
    """Call a function on the data X. An unknown keyword is a TypeError; errors call rows by the index
    of a DataFrame too, and fields of the request by keywords."""
    try:
        return call(function, request, arrays, **how)
    except Error as error:
        unknown = re.search('unknown field "(.*?)"', str(error))
        wrong = unknown[1] if unknown else error.fault.get("option", "")
        if (unknown or wrong == "parameters") and function not in ESTIMATORS:
            names = sorted(request.get("parameters") or [wrong])
            raise TypeError(f"{NAMES.get(function, function)}() got an unexpected keyword argument "
                            f"{names[0]!r}") from None
        keyword = {"data": "X", "probabilities": "pred_probs", **(keywords or {})}.get(wrong, wrong)
        error.message = keyword + error.message.removeprefix(wrong)
        found = re.search(r"\brow (\d+)", error.message)
        row = int(found[1]) if found else -1
        if is_frame(X) and 0 <= row < len(X) and not np.array_equal(X.index[row], row):
            error.message += f" (row {row} is {X.index.tolist()[row]!r} in the index)"
        error.args = (error.message,)
        raise
