"""Functions on examples with noisy labels."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
import pandas
from sklearn.utils import Bunch

from ._classifier import NoisyClassifier, Page, fitted
from ._data import confusion_of, framed, is_frame, labels_of, same_rows
from ._issues import columns_of
from ._requests import (HOW, TABLE, asked, index_of, noise_of, page_of, same_length, settings_of,
                        with_classes)
from ._worker import warn


def estimate_confusion(labels: Any, X: Any = None, *, pred_probs: Any = None,
                       true_labels: Any = None, method: Optional[str] = None, **options: Any) -> Any:
    """Return P(noisy = row | true = column), an array in the order of the classes.

    It is estimated from features X, from probabilities that models without the example gave, or from
    true labels (alone, or beside either; None or NaN where they are not known). That of annotations
    is in consensus(annotations).details. Options are settings such as seed=2 and folds=3, and device
    and verbose.
    """
    if X is None and pred_probs is None and true_labels is None:
        raise ValueError("estimate_confusion: wanted X, pred_probs or true_labels beside the labels")
    same_rows(X=X, labels=labels, pred_probs=pred_probs, true_labels=true_labels)
    noisy = labels_of(labels, what="labels")
    if true_labels is not None:
        true = labels_of(true_labels, what="true_labels")
        same_length("true_labels", len(true.codes), len(noisy.codes), "label")
        if not set(true.classes.tolist()) <= set(noisy.classes.tolist()):
            both = labels_of([*noisy.classes.tolist(), *true.classes.tolist()], what="true_labels")
            noisy = labels_of(labels, both.classes, "labels")
    if pred_probs is not None:
        noisy, p = columns_of(noisy, pred_probs)
    arrays = {}
    if pred_probs is not None:
        arrays["probabilities"] = p.astype(np.float32).ravel()
    if true_labels is not None:
        arrays["true"] = labels_of(true_labels, noisy.classes, "true_labels").codes
    found = asked("estimate_noise", X, noisy, None, options, arrays, method=method)
    if X is not None and "to_identify" in found:
        rows = index_of(framed(X))[found["to_identify"]].tolist()
        warn(f"the labels do not tell how the classes {', '.join(found['not_identified'])} are wrong; to know "
             f"it, check the rows {', '.join(map(str, rows))} and pass their true_labels")
    return np.array(found["confusion"], dtype=float)


def survey(labels: Any, X: Any, *, confusion: Any = None, **options: Any) -> dict[str, Any]:
    """Return what is odd about the data as a whole: near duplicates, outliers, whether the order is
    random, rare classes, gaps, and groups and classes whose labels are wrong more often.

    Rows are called by the index of a DataFrame, else counted from 0.
    """
    same_rows(X=X, labels=labels)
    given = with_classes(labels, confusion, "labels")
    found: dict[str, Any] = asked("find_issues", X, given, confusion, options, survey=True)["survey"]
    index = index_of(framed(X)).tolist()
    found["near_duplicates"] = [[index[i] for i in rows] for rows in found["near_duplicates"]]
    at = dict(zip(given.names, given.classes.tolist()))
    for row in found["outliers"] + found["bad_groups"]:
        row["example"] = index[row.get("example", 0)]
    for row in found["bad_classes"]:
        row["class"] = at[row["class"]]
    found["rare_classes"] = [at[name] for name in found["rare_classes"]]
    return found


def query(X_pool: Any, X: Any, y: Any, *, k: int = 10, strategy: str = "margin",
          confusion: Any = None, **options: Any) -> Any:
    """Return the k rows of a pool whose labels would teach most, the best first.

    They are called by the index of a DataFrame, else counted from 0. X and y are what has a label;
    confusion is of errors of the expert who gives more.
    """
    X_pool, X = framed(X_pool), framed(X)
    same_rows(X=X, y=y)
    labels = with_classes(y, confusion)
    rows, pool = np.shape(X)[0], np.shape(X_pool)[0]
    same_length("y", len(labels.codes), rows)
    if is_frame(X) != is_frame(X_pool):
        raise ValueError("X_pool: found a DataFrame beside an array, wanted two of one kind")
    if is_frame(X):
        if set(X.columns) != set(X_pool.columns):
            odd = sorted(map(str, set(X.columns) ^ set(X_pool.columns)))[0]
            raise ValueError(f"X_pool: found column {odd!r} in one of X and X_pool, wanted the same "
                             "columns")
        both = pandas.concat([X, X_pool[X.columns]], ignore_index=True)
    elif hasattr(X, "tocsr") or hasattr(X_pool, "tocsr"):
        from scipy.sparse import vstack
        both = vstack([X, X_pool], format="csr")
    else:
        masked = isinstance(X, np.ma.MaskedArray) or isinstance(X_pool, np.ma.MaskedArray)
        both = (np.ma if masked else np).concatenate([X, X_pool])
    every = labels._replace(codes=np.concatenate([labels.codes, np.full(pool, -1, np.int32)]))
    aside = np.flatnonzero(labels.codes < 0).astype(np.int32)
    found = asked("query", both, every, confusion, options, {"aside": aside}, k=k, strategy=strategy)
    return index_of(X_pool)[np.array(found["rows"], int) - rows].to_numpy()


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
    same_rows(y_noisy=y_noisy, y_pred=y_pred)
    labels = with_classes(y_noisy, confusion, "y_noisy")
    predicted = labels_of(y_pred, labels.classes, "y_pred")
    same_length("y_pred", len(predicted.codes), len(labels.codes), "row of y_noisy")
    if (gaps := np.flatnonzero(predicted.codes < 0)).size:
        raise ValueError(f"y_pred: found no class in row {gaps[0]}, wanted one")
    known = labels.codes >= 0
    noisy, p, q = labels.codes[known], predicted.codes[known], len(labels.classes)
    c = noise_of(confusion, labels)
    if not known.any() or np.linalg.cond(c) > 1e6:
        raise ValueError("confusion: found no label, or a matrix without an inverse, wanted classes that "
                         "labels tell apart")
    inverse = np.linalg.inv(c)
    right, squares = inverse[p, noisy], inverse**2 @ c  # [p, t]: the mean of p's squares of class t
    half, n = 1.959963984540054**2 / 2, len(noisy)  # of the examples that are added
    own = squares.diagonal()
    others = (squares.sum(axis=1) - own) / max(1, q - 1)
    centre = (right.sum() + half) / (n + 2 * half)
    square = ((right**2).sum() + half * (own + others)[p].mean()) / (n + 2 * half)
    error = 1.959963984540054 * np.sqrt(max(0.0, square - centre**2) / (n + 2 * half))
    value = right.mean()
    return Accuracy(float(value), float(min(value, centre - error)), float(max(value, centre + error)))


def cross_validate(X: Any, y: Any, *, confusion: Any = None, **options: Any) -> Bunch:
    """Return how good settings are, by examples that are held out in turn.

    confusion is P(noisy = row | true = column), to learn and judge by; None if labels are right.
    Options are settings such as learner="uma", kernel="rbf", l2=0.01 or folds=10, of the table, and
    device and verbose.

    The result has predicted and probabilities (by row; None of models without), accuracy (an
    Accuracy if confusion is given, else the share of labels that are predicted), log_loss (likewise
    corrected) and details.
    """
    same_rows(X=X, y=y)
    labels = with_classes(y, confusion)
    found = asked("cross_validate", X, labels, confusion, options)
    predicted: Any = labels.classes[found.pop("codes")]
    p = found.pop("probabilities", np.empty(0)).reshape(-1, len(labels.classes))
    if is_frame(X := framed(X)):
        predicted = pandas.Series(predicted, index=X.index, name="predicted")
        p = pandas.DataFrame(p, index=X.index if len(p) else None, columns=labels.classes)
    corrected = found.get("corrected")
    return Bunch(predicted=predicted, probabilities=p if len(p) else None, details=found,
                 accuracy=Accuracy(**corrected["accuracy"]) if corrected else 1 - found["error_rate"],
                 log_loss=found.get("corrected_log_loss", found.get("log_loss")))


def compare(X: Any, y: Any, candidates: Any, *, confusion: Any = None, **options: Any) -> Any:
    """Return a DataFrame of candidates, the best first, compared on the same held-out parts.

    candidates are names of learners, or a dict of settings by name, such as
    {"plain": {"confusion": None}, "curved": {"kernel": "rbf"}}; with confusion each learns and is
    judged by that, unless it has its own. Options are settings of all, such as seed=3 or folds=10.

    Columns are log_loss, behind (the best), behind_error (its standard error), accuracy with low and
    high, and failed (why).
    """
    if isinstance(candidates, str) or not candidates:
        raise ValueError(f"candidates: found {candidates!r}, wanted a list of learners or a dict of settings")
    if not isinstance(candidates, dict):
        names = list(candidates)
        if len(set(names)) < len(names):
            raise ValueError(f"candidates: found {names}, wanted different ones")
        candidates = {name: {"learner": name} for name in names}
    same_rows(X=X, y=y)
    labels = with_classes(y, confusion)
    common = {name: options.pop(name) for name in list(options) if name in TABLE | HOW | {"folds"}}
    compared, arrays = [], {}
    for k, (name, chosen) in enumerate(candidates.items()):
        if not isinstance(chosen, dict):
            raise ValueError(f"candidates: found {chosen!r} as {name!r}, wanted a dict of settings, such as "
                             "{'learner': 'uma'}")
        chosen = dict(chosen)
        one: dict[str, Any] = {"name": str(name)}
        if "confusion" in chosen:
            own = chosen.pop("confusion")
            if own is None:
                one["no_confusion"] = True
            else:
                one["confusion"], matrix = confusion_of(own, labels)
                arrays[f"compare.{k}.confusion.p"] = matrix["confusion.p"]
        if extra := TABLE & set(chosen):
            raise ValueError(f"candidates: found {min(extra)!r} in {name!r}, wanted it as an option of "
                             "compare: all have the same features")
        compared.append({**one, **settings_of({**options, **chosen})[0]})
    found = asked("cross_validate", X, labels, confusion, common, arrays, compare=compared)["compared"]
    columns = ["name", "log_loss", "behind", "behind_error", "accuracy", "low", "high", "failed"]
    rows = pandas.DataFrame([{"failed": "", **one, **(one["accuracy"] or {}), "accuracy": (
        one["accuracy"] or {}).get("value")} for one in found], columns=columns).set_index("name")
    if confusion is None:  # labels that are right have no interval
        rows[["low", "high"]] = np.nan
    return rows


def report(model: NoisyClassifier, X: Any, y: Any, *, confusion: Any = None,
           name: Optional[str] = None, judge: Optional[str] = None, folds: Optional[int] = None) -> Page:
    """Return a page on a model and on noisy labels: those that it was fitted to, or others.

    confusion is that of the labels; None for the model's own, if it has one. name is what the page
    calls the data. judge and folds say who judges the labels, as in uma-gpu report.
    """
    fitted("model", model)
    same_rows(X=X, y=y)
    X, labels = framed(X), labels_of(y, model.classes_)
    X = X.tocsr() if hasattr(X, "tocsr") else X if is_frame(X) else np.asarray(X)
    same_length("y", len(labels.codes), X.shape[0])
    known, page = np.flatnonzero(labels.codes >= 0), page_of(X, name, "umagpu.report(model, X, y)")
    if len(known) < len(labels.codes):  # rows without a label say nothing
        X, labels = X.iloc[known] if is_frame(X) else X[known], labels._replace(codes=labels.codes[known])
        page["index"] = [page["index"][i] for i in known]
    data = model._data(X)
    arrays = {**data.arrays, "model": np.frombuffer(model.model_, np.uint8)}
    found = asked("report", None, labels, model.confusion_ if confusion is None else confusion,
                  {"device": model.device, "page": page}, arrays, data=data.part, judge=judge,
                  folds=folds)
    return Page(found["page"].tobytes().decode())
