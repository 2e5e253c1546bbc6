"""Requests of functions on examples with labels."""

from __future__ import annotations

import datetime
import re
from typing import Any, Optional

import numpy as np
import pandas

from ._classifier import settings_of
from ._data import Labels, confusion_of, data_of, framed, is_frame
from ._worker import Error, call, warn

# What functions of the program are called here, where that differs.
NAMES = {"estimate_noise": "estimate_confusion", "find_issues": "find_label_issues"}


def index_of(X: Any) -> Any:
    """Return what rows are called: the index of a DataFrame, or numbers from 0."""
    return X.index if is_frame(X) else pandas.RangeIndex(np.shape(X)[0])


def named(classes: Any, codes: Any) -> Any:
    """Return the class of each code, None where it is below 0."""
    if (codes >= 0).all():
        return classes[codes]
    with_none = np.full(len(classes) + 1, None, object)
    with_none[:-1] = classes
    return with_none[np.maximum(codes, -1)]


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
        data = data_of(framed(X), **table)
        request["data"] = data.part
        arrays.update(data.arrays)
        if data.rows != len(labels.codes):
            raise ValueError(f"labels: found {len(labels.codes)}, wanted {data.rows}, one for each row of "
                             "X")
        if len(labels.classes) < 2:
            raise ValueError(f"labels: found {len(labels.classes)} class, wanted 2 or more")
    if confusion is not None:
        request["confusion"], arrays["confusion.p"] = {}, noise_of(confusion, labels)
    return request, arrays


def noise_of(confusion: Any, labels: Labels) -> Any:
    """Return P(noisy = row | true = column) of an array or a DataFrame, checked.

    Counts are taken if the names of pandas say which axis is true, or the sums: counts are the
    examples with each noisy label.
    """
    part, arrays = confusion_of(confusion, labels)
    c = arrays["confusion.p"]
    turned = part.get("confusion_axes") == "true-rows"
    for i, j in np.argwhere(~(np.isfinite(c) & (c >= 0))):
        raise ValueError(f"confusion: found {c[i, j]} in row {i}, column {j}, wanted shares of at least "
                         "0")
    if (c > 1).any() and not part:
        given = np.bincount(labels.codes[labels.codes >= 0], minlength=len(c))
        rows, columns = (np.array_equal(c.sum(axis=axis), given) for axis in (1, 0))
        if rows == columns:
            raise ValueError("confusion: found counts, and nothing says which axis is true, wanted "
                             "shares: confusion / confusion.sum(axis=0) if the columns are the true "
                             "classes, (confusion / confusion.sum(axis=1, keepdims=True)).T if the "
                             "rows are, as in confusion_matrix(true, noisy)")
        turned = columns  # which sum to the noisy labels
    c = c.T if turned else c
    sums = c.sum(axis=0)
    if (c > 1).any() and (sums > 0).all():
        return c / sums
    for j in np.flatnonzero(abs(sums - 1) > 1e-6):
        rows_are = not turned and (abs(c.sum(axis=1) - 1) <= 1e-6).all()
        raise ValueError(f"confusion: found a sum of {sums[j]:.6g} of column {j} (true class "
                         f"{labels.names[j]!r}), wanted 1"
                         + ("; its rows sum to 1: use confusion.T" if rows_are else ""))
    return np.ascontiguousarray(c)


def ask(function: str, request: dict[str, Any], arrays: dict[str, Any], X: Any = None,
        **how: Any) -> dict[str, Any]:
    """Call a function on the data X. An unknown setting is a TypeError, and errors call rows by the
    index of a DataFrame too."""
    try:
        return call(function, request, arrays, **how)
    except Error as error:
        unknown = re.search('unknown field "(.*?)"', str(error))
        wrong = unknown[1] if unknown else error.fault.get("option")
        if unknown or wrong == "parameters":
            names = sorted(request.get("parameters") or [wrong])
            raise TypeError(f"{NAMES.get(function, function)}() got an unexpected keyword argument "
                            f"{names[0]!r}") from None
        found = re.search(r"\brow (\d+)", str(error))
        row = int(found[1]) if found else -1
        if is_frame(X) and 0 <= row < len(X) and not np.array_equal(X.index[row], row):
            error.args = (f"{error} (row {row} is {X.index.tolist()[row]!r} in the index)",)
        raise
