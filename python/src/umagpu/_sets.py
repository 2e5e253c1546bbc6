"""Prediction sets."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._classifier import NoisyClassifier, by_position, fitted
from ._data import labels_of
from ._requests import ask, request_of, same_length


class PredictionSets(BaseEstimator):  # type: ignore[misc]
    """Sets of classes that hold the true one in a share `level` of all examples.

    The estimator is a NoisyClassifier that was fitted; fit takes examples that it has not seen, with
    noisy labels, whose noise is confusion, or right ones. options may have by_class: True, by which
    the sets hold within each class, and sure: True, by which they hold for 95 % of draws of these
    examples, not only in the mean over draws. at_least_ is the share that 95 % of draws reach.
    """

    def __init__(self, estimator: NoisyClassifier, level: float = 0.9, *, confusion: Any = None,
                 options: Optional[dict[str, Any]] = None) -> None:
        self.estimator = estimator
        self.level = level
        self.confusion = confusion
        self.options = options

    def fit(self, X: Any, y: Any) -> "PredictionSets":
        """Learn which probabilities a class of a set has."""
        fitted("estimator", self.estimator)
        by_position(X=X, y=y)
        data, labels = self.estimator._data(X), labels_of(y, self.estimator.classes_)
        same_length("y", len(labels.codes), data.rows)
        request, arrays = request_of(None, labels, self.confusion, data=data.part, sets=[self.level],
                                     **(self.options or {}))
        arrays.update({**data.arrays, "model": np.frombuffer(self.estimator.model_, np.uint8)})
        found = ask("prediction_sets", request, arrays, X, {"sets": "level"},
                    device=self.estimator.device)
        self.at_least_ = found["sets"][0]["at_least"]
        self.classes_, self.model_ = labels.classes, found["model"].tobytes()
        return self

    def predict(self, X: Any) -> Any:
        """Return examples × classes, True for the classes of a set."""
        check_is_fitted(self)
        data = self.estimator._data(X)
        arrays = {**data.arrays, "model": np.frombuffer(self.model_, np.uint8)}
        found = ask("predict", {"data": data.part, "sets": self.level}, arrays, X,
                    device=self.estimator.device)
        return found["sets"].reshape(data.rows, len(self.classes_))
