"""Functions on noisy labels, which run the commands of the program."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, NamedTuple, Optional

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d

from ._classifier import (NoisyClassifier, flags_of, names_of, noise_flags, order_of,
                          write_annotations)
from ._classifier import old_labels_of as labels_of
from ._data import labels_of as coded
from ._issues import noise_of
from ._worker import Call


def _checked(x: Any) -> Any:
    return check_array(x, accept_sparse="csr", dtype="numeric")


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def estimate_confusion(labels: Any = None, X: Any = None, *, pred_probs: Any = None,
                       true_labels: Any = None, annotations: Any = None,
                       method: Optional[str] = None, **options: Any) -> Any:
    """Return P(noisy = row | true = column), by the classes in their order.

    It is estimated from features X, from probabilities that models without the example gave, from
    true labels (beside X, None or NaN where they are not known), or from annotations.
    """
    with Call() as call:
        args = ["confusion", "estimate", *flags_of({"method": method, **options})]
        if annotations is not None:
            path, classes = write_annotations(call, annotations)
            args += ["--annotators", path]
        else:
            classes, named = labels_of(column_or_1d(labels))
            names, index = np.array(names_of(classes)), np.searchsorted(classes, labels)
            if X is not None:
                args += ["--data", call.array(_checked(X)), "--labels", call.array(named)]
            elif pred_probs is not None:
                # the method reads no feature
                empty = np.zeros((len(index), 1), np.uint8)
                inner = np.argsort(order_of(classes, _sorted(names)))
                p = np.ascontiguousarray(np.asarray(pred_probs, dtype=np.float32)[:, inner])
                args += ["--data", call.array(empty), "--labels", call.array(named),
                         "--probabilities", call.array(p)]
            if true_labels is not None:
                args += ["--clean", _write_true(call, names[index], true_labels, X is not None)]
        found = call.json(*args)
    order = order_of(classes, found["classes"])
    return np.array(found["confusion"])[np.ix_(order, order)]


def _sorted(names: Any) -> list[str]:
    """Return names in the program's order: by number, if all are numbers."""
    try:
        return sorted(names.tolist(), key=lambda name: (int(name), name))
    except ValueError:
        return sorted(names.tolist())


def _write_true(call: Call, noisy: Any, true_labels: Any, by_row: bool) -> str:
    """Write a table of true labels: row,label beside data, else noisy,true."""
    true = np.asarray(true_labels, dtype=object).tolist()
    known = [i for i, v in enumerate(true) if v is not None and v == v]
    names = names_of(np.array([true[i] for i in known]))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["row", "label"] if by_row else ["noisy", "true"])
    for i, name in zip(known, names):
        table.writerow([i + 1 if by_row else noisy[i], name])
    return call.write(".csv", text.getvalue().encode())


def _quality_by_models(labels: Any, X: Any, confusion: Any, options: dict[str, Any]) -> Any:
    classes, named = labels_of(labels)
    with Call() as call:
        out = call.path(".csv", 64 * len(labels))
        call.run("issues", "--data", call.array(_checked(X)), "--labels", call.array(named), "--out",
                 out, *noise_flags(call, confusion, classes), *flags_of(options))
        with open(out, encoding="utf-8") as file:
            rows = _rows(file.read())
    quality, other = np.empty(len(labels)), np.empty(len(labels), bool)
    for row in rows:
        i = int(row["example"]) - 1
        quality[i] = float(row["label_quality"])
        other[i] = row["predicted_label"] != row["given_label"]
    return quality, other


def survey(labels: Any, X: Any, *, confusion: Any = None, **options: Any) -> dict[str, Any]:
    """Return what uma-gpu issues --survey tells of the data: near duplicates, outliers, whether the
    order is random, rare classes, and groups and classes that do badly. Rows are counted from 0."""
    labels = column_or_1d(labels)
    classes, named = labels_of(labels)
    with Call() as call:
        found: dict[str, Any] = call.json(
            "issues", "--survey", "--data", call.array(_checked(X)), "--labels", call.array(named),
            *noise_flags(call, confusion, classes), *flags_of(options))["survey"]
    found["near_duplicates"] = [[i - 1 for i in rows] for rows in found["near_duplicates"]]
    for row in found["outliers"] + found["bad_groups"]:
        row["example"] -= 1
    return found


class Accuracy(NamedTuple):
    """An accuracy, with the interval that holds the true one in 95 of 100 cases."""

    value: float
    low: float
    high: float


def corrected_accuracy(y_noisy: Any, y_pred: Any, confusion: Any) -> Accuracy:
    """Return the accuracy of predictions on the true labels, where only noisy ones are known.

    confusion is P(noisy = row | true = column). A label counts by its row of C⁻¹, so that the mean
    over the noise is right. The interval adds four examples, half of them right, as Agresti and
    Coull's. Rows without a label are left out.
    """
    if confusion is None:
        raise ValueError("confusion: found None, wanted P(noisy = row | true = column); for labels that "
                         "are right use accuracy_score")
    labels = coded(y_noisy, what="y_noisy")
    predicted = coded(y_pred, labels.classes, "y_pred")
    if len(labels.codes) != len(predicted.codes):
        raise ValueError(f"y_pred: found {len(predicted.codes)} predictions, wanted "
                         f"{len(labels.codes)}, one for each of y_noisy")
    if (predicted.codes < 0).any():
        raise ValueError(f"y_pred: found no class in row {np.flatnonzero(predicted.codes < 0)[0]}")
    known = labels.codes >= 0
    noisy, p, q = labels.codes[known], predicted.codes[known], len(labels.classes)
    c = noise_of(confusion, labels, np.bincount(noisy, minlength=q))
    try:
        inverse = np.linalg.inv(c)
    except np.linalg.LinAlgError:
        raise ValueError("confusion: found one that has no inverse, wanted classes that the labels tell "
                         "apart") from None
    right, squares = inverse[p, noisy], inverse**2 @ c  # [p, t]: the mean of p's squares of class t
    half, n = 1.959963984540054**2 / 2, len(noisy)  # of the examples that are added
    own = squares.diagonal()
    others = (squares.sum(axis=1) - own) / max(1, q - 1)
    centre = (right.sum() + half) / (n + 2 * half)
    square = ((right**2).sum() + half * (own + others)[p].mean()) / (n + 2 * half)
    error = 1.959963984540054 * np.sqrt(max(0.0, square - centre**2) / (n + 2 * half))
    value = right.mean()
    return Accuracy(float(value), float(min(value, centre - error)), float(max(value, centre + error)))


def consensus(annotations: Any, **options: Any) -> Any:
    """Return the likely true label of each row of annotations, a column for each annotator.

    A DataFrame gives a DataFrame of labels and their probabilities, an array the array of labels.
    """
    with Call() as call:
        path, classes = write_annotations(call, annotations)
        out = call.path(".csv")
        call.run("confusion", "estimate", "--annotators", path, "--write-labels", out,
                 *flags_of(options))
        with open(out, encoding="utf-8") as file:
            rows = _rows(file.read())
    at = {name: k for k, name in enumerate(names_of(classes))}
    label = np.array([None] * len(annotations), dtype=object)
    probability = np.full(len(annotations), np.nan)
    for row in rows:
        i = int(row["item"]) - 1
        label[i], probability[i] = classes[at[row["label"]]], float(row["probability"])
    if all(v is not None for v in label):
        label = label.astype(classes.dtype)
    if hasattr(annotations, "index"):
        return annotations.__class__({"label": label, "probability": probability},
                                     index=annotations.index)
    return label


def query(X_pool: Any, X: Any, y: Any, *, k: int = 10, strategy: str = "margin",
          **options: Any) -> Any:
    """Return the indices of the k examples of a pool whose labels would teach most, best first."""
    _, named = labels_of(column_or_1d(y))
    known, pool = _checked(X), _checked(X_pool)
    if hasattr(known, "tocsr") or hasattr(pool, "tocsr"):
        from scipy.sparse import vstack
        both = vstack([known, pool], format="csr")
    else:
        both = np.concatenate([known, pool])
    labels = np.concatenate([named, np.full(pool.shape[0], "")])
    with Call() as call:
        rows = _rows(call.run("query", "--data", call.array(both), "--labels", call.array(labels),
                              "--k", k, "--strategy", strategy, *flags_of(options)))
    return np.array([int(row["row"]) - 1 - known.shape[0] for row in rows])


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
                     call.array(_checked(X)), "--labels", call.array(labels_of(y)[1]), "--out", out,
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
                             call.array(_checked(X)), "--no-labels", "--sets", self.level, "--to",
                             "jsonl").splitlines()
        at = {name: k for k, name in enumerate(names_of(self.classes_))}
        sets = np.zeros((len(lines), len(at)), bool)
        for i, line in enumerate(lines):
            sets[i, [at[name] for name in json.loads(line)["set"]]] = True
        return sets
