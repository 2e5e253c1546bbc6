"""Prediction sets."""

from __future__ import annotations

import json
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from ._classifier import NoisyClassifier, flags_of, names_of, noise_flags, old_labels_of
from ._worker import Call


class PredictionSets(BaseEstimator):
    """Sets of classes that hold the true one in a share `level` of all examples.

    The estimator is a NoisyClassifier that was fitted; fit takes examples that it has not seen, with
    noisy labels, whose noise is confusion, or right ones.
    """

    def __init__(self, estimator: NoisyClassifier, level: float = 0.9, *, confusion: Any = None,
                 options: Optional[dict[str, Any]] = None) -> None:
        self.estimator = estimator
        self.level = level
        self.confusion = confusion
        self.options = options

    def fit(self, X: Any, y: Any) -> "PredictionSets":
        check_is_fitted(self.estimator)
        self.classes_ = self.estimator.classes_
        with Call() as call:
            out = call.path(".npz")
            call.run("calibrate", "--model", call.write(".npz", self.estimator.model_), "--data",
                     call.array(check_array(X, accept_sparse="csr", dtype="numeric")), "--labels", call.array(old_labels_of(y)[1]), "--out", out,
                     *noise_flags(call, self.confusion, self.classes_),
                     "--sets", self.level, *flags_of(self.options))
            with open(out, "rb") as file:
                self.model_ = file.read()
        return self

    def predict(self, X: Any) -> Any:
        """Return examples × classes, True for the classes of a set."""
        check_is_fitted(self)
        with Call() as call:
            lines = call.run("predict", "--model", call.write(".npz", self.model_), "--data",
                             call.array(check_array(X, accept_sparse="csr", dtype="numeric")), "--no-labels", "--sets", self.level, "--to",
                             "jsonl").splitlines()
        at = {name: k for k, name in enumerate(names_of(self.classes_))}
        sets = np.zeros((len(lines), len(at)), bool)
        for i, line in enumerate(lines):
            sets[i, [at[name] for name in json.loads(line)["set"]]] = True
        return sets
