"""Requests of functions on examples with labels."""

from __future__ import annotations

from typing import Any

from ._data import Data, Labels, confusion_of, data_of


def request_of(X: Any, labels: Labels, confusion: Any, settings: dict[str, Any],
               ) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a request on examples X with labels, and its arrays."""
    data = data_of(X)
    if data.rows != len(labels.codes):
        raise ValueError(f"labels: found {len(labels.codes)}, wanted {data.rows}, one for each row of X")
    request = {**settings, "data": data.part, "labels": {"classes": labels.names}}
    arrays = {**data.arrays, "labels.codes": labels.codes}
    if confusion is not None:
        request["confusion"], matrix = confusion_of(confusion, labels)
        arrays.update(matrix)
    return request, arrays
