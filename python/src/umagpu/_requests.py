"""Requests of functions on examples with labels."""

from __future__ import annotations

import datetime
import re
from typing import Any, Optional

from ._classifier import settings_of
from ._data import Labels, confusion_of, data_of, framed, is_frame
from ._worker import Error, call

__all__ = ["ask", "index_of", "page_of", "request_of", "settings_of"]

# What functions of the program are called here, where that differs.
NAMES = {"estimate_noise": "estimate_confusion", "find_issues": "find_label_issues"}


def index_of(X: Any) -> Any:
    """Return what rows are called: the index of a DataFrame, or numbers from 0."""
    import pandas
    return X.index if is_frame(X) else pandas.RangeIndex(
        X.shape[0] if hasattr(X, "shape") else len(X))


def page_of(X: Any, name: Optional[str], code: str, again: str = "") -> dict[str, Any]:
    """Return a request for pages on the data X that the code has made."""
    return {"name": name or "data", "date": datetime.date.today().isoformat(), "call": code,
            "again": again, "index": [str(i) for i in index_of(X)],
            "rows": "Rows are called by the index of the DataFrame." if is_frame(X) else
                    "Rows are counted from 0."}


def request_of(X: Any, labels: Labels, confusion: Any, settings: dict[str, Any],
               table: Optional[dict[str, Any]] = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a request on examples X with labels, and its arrays; X is None for labels alone."""
    if X is None:
        return {**settings, "labels": {"classes": labels.names}}, {"labels.codes": labels.codes}
    data = data_of(framed(X), **(table or {}))
    if data.rows != len(labels.codes):
        raise ValueError(f"labels: found {len(labels.codes)}, wanted {data.rows}, one for each row of X")
    if len(labels.classes) < 2:
        raise ValueError(f"labels: found {len(labels.classes)} class, wanted 2 or more")
    request = {**settings, "data": data.part, "labels": {"classes": labels.names}}
    arrays = {**data.arrays, "labels.codes": labels.codes}
    if confusion is not None:
        request["confusion"], matrix = confusion_of(confusion, labels)
        arrays.update(matrix)
    return request, arrays


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
            raise TypeError(f"{NAMES.get(function, function)}() got an unexpected keyword argument {names[0]!r}") from None
        row = error.fault.get("row")
        if row is not None and is_frame(X) and X.index[row] != row:
            error.args = (f"{error} (row {row} is {X.index[row]!r} in the index)",)
        raise
