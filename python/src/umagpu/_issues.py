"""Which labels are wrong, by out-of-fold probabilities of any model."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from ._data import Labels, labels_of, real, same_rows
from ._requests import asked, with_classes
from ._worker import warn

PRUNING = ("prune_by_class", "prune_by_noise_rate", "both")
RULES = ("probability", *PRUNING, "confident_learning", "predicted_neq_given",
         "low_normalized_margin", "low_self_confidence")
RANKS = ("label_quality", "self_confidence", "normalized_margin", "confidence_weighted_entropy")


class Judged(NamedTuple):
    """Labels with probabilities: codes are columns of p, n×K."""

    codes: Any
    p: Any

    def given(self) -> Any:
        """Return the probability of each label."""
        return self.p[np.arange(len(self.codes)), self.codes]

    def counts(self) -> Any:
        return np.bincount(self.codes, minlength=self.p.shape[1])


def columns_of(labels: Labels, pred_probs: Any) -> tuple[Labels, Any]:
    """Return labels of the classes that the columns of pred_probs are, and the array.

    A DataFrame names its columns. Those of an array, or named 0, 1, ..., are the classes of the labels
    in order if there are as many; else labels are whole numbers from 0.
    """
    p, classes = real(pred_probs, "pred_probs"), labels.classes
    if p.ndim != 2 or len(p) != len(labels.codes):
        raise ValueError(f"pred_probs: found shape {p.shape}, wanted {len(labels.codes)} rows, one for "
                         "each label, and a column for each class")
    bad = np.flatnonzero(~((p >= 0) & (p <= 1 + 1e-6)).all(axis=1))  # also NaN
    if bad.size:
        raise ValueError(f"pred_probs: found {p[bad[0]].tolist()} in row {bad[0]}, wanted "
                         "probabilities from 0 to 1")
    k = p.shape[1]
    sums = p.sum(axis=1)
    if (odd := np.flatnonzero(abs(sums - 1) > 1e-3 * np.sqrt(k))).size:
        raise ValueError(f"pred_probs: found the sum {sums[odd[0]]:.6g} in row {odd[0]}, wanted 1; divide "
                         "each row by its sum")
    names = list(getattr(pred_probs, "columns", range(k)))
    if names == list(range(k)) and len(classes) == k:
        names = classes.tolist()
    columns = labels_of(names, what="pred_probs")
    at = {name: place for place, name in enumerate(columns.names)}
    places = np.array([*(at.get(name, -1) for name in labels.names), -1], np.int32)
    if len(at) < k or (places[:-1] < 0).any():
        raise ValueError(f"pred_probs: found columns {', '.join(map(str, names[:10]))} for the classes "
                         f"{', '.join(labels.names[:10])}, wanted a column for each class, and different "
                         "ones; a DataFrame names its columns")
    return columns._replace(codes=places[labels.codes]), p[:, np.argsort(columns.codes)]


def confident_joint(judged: Judged) -> tuple[Any, Any]:
    """Return counts [given label, likely class], which sum to the labels, and who is off-diagonal.

    An example counts as class k if its probability of k is the largest among those that reach the
    mean of their column over the examples labelled so (Northcutt, Jiang and Chuang, JAIR 70, 2021).
    """
    codes, p = judged
    k = p.shape[1]
    reached = p >= thresholds(judged) - 1e-6
    # an example above several thresholds is of its most likely class, even below that one's own
    likely = np.where(reached.sum(axis=1) > 1, p.argmax(axis=1), reached.argmax(axis=1))
    confident = reached.any(axis=1)
    joint = np.bincount(codes[confident] * k + likely[confident], minlength=k * k).reshape(k, k)
    np.fill_diagonal(joint, np.maximum(joint.diagonal(), 1))
    exact = (joint.T / joint.sum(axis=1) * judged.counts()).T
    exact = exact / exact.sum() * len(codes)
    return np.array([rounded(row) for row in exact]), confident & (likely != codes)


def thresholds(judged: Judged) -> Any:
    """Return the mean probability of each class where it is the label; 2, which none reaches,
    without a label."""
    counts = judged.counts()
    sums = np.bincount(judged.codes, judged.given(), minlength=len(counts))
    return np.where(counts > 0, np.maximum(sums / np.maximum(counts, 1), 2e-6), 2.0)


def rounded(row: Any) -> Any:
    """Return whole numbers near row with its sum: those farthest from their number give way."""
    whole = np.round(row)
    while missing := int(round(row.sum() - whole.sum())):
        step = 1 if missing > 0 else -1
        order = np.argsort(row - whole, kind="stable")[::-step]
        whole[order[:abs(missing)]] += step
    return whole.astype(int)


def pruned(judged: Judged, rule: str, frac_noise: float, remove: Any, least: int,
           joint: Any) -> Any:
    """Return what the rules that prune find."""
    codes, p = judged
    counts, off = judged.counts(), joint.astype(float)
    keep = np.maximum(joint.diagonal(), least)
    more = (keep - joint.diagonal()) / np.maximum(np.count_nonzero(joint, axis=1) - 1, 1)
    off = np.maximum(off - more[:, None], 0)
    np.fill_diagonal(off, 0)
    take = np.trunc(off * frac_noise)
    keep = np.trunc(keep + (off - off * frac_noise).sum(axis=1))
    if remove is not None:
        share = off / np.maximum(off.sum(axis=1, keepdims=True), 1e-300)
        take = np.array([rounded(row) for row in share * remove[:, None]])
        keep = counts - remove
    few = np.flatnonzero((counts > 0) & (counts <= max(least, 1)))
    if few.size:
        warn(f"filter_by {rule!r}: found at most {max(least, 1)} labels in column "
             f"{', '.join(map(str, few[:10]))} of pred_probs, in which no issue is looked for "
             "(min_examples_per_class)")
    by_class, by_rate = np.zeros(len(codes), bool), np.zeros(len(codes), bool)
    parts = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    for label in np.flatnonzero(counts > max(least, 1)):
        rows = parts[label]
        own = p[rows, label]
        cut = max(0, int(counts[label] - keep[label]))
        by_class[rows[np.argsort(own, kind="stable")[:cut]]] = True
        others = np.flatnonzero(take[label])
        worst = np.argsort(own[:, None] - p[np.ix_(rows, others)], axis=0, kind="stable")
        by_rate[rows[worst[np.arange(len(rows))[:, None] < take[label, others]]]] = True
    return {"prune_by_class": by_class, "prune_by_noise_rate": by_rate,
            "both": by_class & by_rate}[rule]


def scores(judged: Judged, rank: str, adjust: bool = False) -> Any:
    """Return a score of each label by one of cleanlab's rules, from 0, the worst, to 1."""
    if adjust:
        level = thresholds(judged)
        p = judged.p - level + level.max()
        judged = Judged(judged.codes, p / p.sum(axis=1, keepdims=True))
    given, p = judged.given(), judged.p
    if rank == "self_confidence":
        return given
    if rank == "normalized_margin":
        rest = p.copy()
        rest[np.arange(len(p)), judged.codes] = -np.inf
        return (given - rest.max(axis=1) + 1) / 2
    entropy = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=1) / np.log(max(2, p.shape[1]))
    ratio = np.maximum(entropy, 0) / np.where(given > 0, given, 1)
    score = np.where(ratio > 1e-12, np.log1p(ratio) / np.maximum(ratio, 1e-12), 1.0)
    return np.where(given > 0, score, 0.0)  # the limits of a saturated prediction


def issues_by(rule: str, judged: Judged, frac_noise: float, remove: Any, least: int, joint: Any) -> Any:
    """Return which labels are wrong by one of cleanlab's rules."""
    codes, p = judged
    if rule == "predicted_neq_given":
        return p.argmax(axis=1) != codes
    differs = judged.given() + 1e-6 < p.max(axis=1)  # in a tie the label may be right
    found, off = confident_joint(judged)
    off &= differs
    if rule == "confident_learning":
        return off
    if rule in PRUNING:
        joint = found if joint is None else joint
        return differs & pruned(judged, rule, frac_noise, remove, least, joint)
    wrong = np.zeros(len(codes), bool)
    worst = np.argsort(scores(judged, rule[len("low_"):]), kind="stable")
    wrong[worst[:np.count_nonzero(off)]] = True
    return wrong


def find_label_issues(labels: Any, pred_probs: Any = None, *,
                      return_indices_ranked_by: Optional[str] = None,
                      rank_by_kwargs: Optional[dict[str, Any]] = None,
                      filter_by: str = "probability", multi_label: bool = False,
                      frac_noise: float = 1.0, num_to_remove_per_class: Any = None,
                      min_examples_per_class: int = 1, confident_joint: Any = None,
                      n_jobs: Optional[int] = None, verbose: bool = False, X: Any = None,
                      confusion: Any = None, **settings: Any) -> Any:
    """Return which labels are likely wrong, with the signature of cleanlab's function.

    Parameters
    ----------
    labels : a class for each example; None, NaN and pandas.NA are no label, and never an issue.
    pred_probs : out-of-fold P(label | x) of any model, a column for each class in order, or a
        DataFrame whose columns are named as classes. Labels 0, 1, ... may leave out classes.
    return_indices_ranked_by : None for a mask; else positions of the issues, the worst first, by
        "label_quality" (the probability that the label is right), "self_confidence",
        "normalized_margin" or "confidence_weighted_entropy".
    rank_by_kwargs : {"adjust_pred_probs": True} subtracts each class's mean self-confidence.
    filter_by : "probability" flags labels more likely wrong than right, by the confusion matrix.
        The rules of cleanlab are "prune_by_noise_rate" (its default), "prune_by_class", "both",
        "confident_learning", "predicted_neq_given", "low_normalized_margin" and
        "low_self_confidence".
    frac_noise, num_to_remove_per_class, min_examples_per_class, confident_joint : of the first
        three rules of cleanlab; other rules reject them.
    n_jobs : no result depends on it.
    verbose : whether to print the number of issues.
    X : features in place of pred_probs: an array, a sparse matrix or a DataFrame. Models that have
        not seen an example judge it: of clean for "probability", else one that settings choose.
    confusion : P(noisy = row | true = column) for "probability"; None to estimate it.
    settings : with X, of the table; for other rules than "probability" also of the model, such as
        learner="uma", folds=10 or seed=3.
    """
    if multi_label:
        raise ValueError("multi_label: found True, wanted False: each example has one label; call once "
                         "for each class, with labels 0 and 1")
    if filter_by not in RULES:
        raise ValueError(f"filter_by: found {filter_by!r}, wanted one of {', '.join(RULES)}")
    if return_indices_ranked_by not in (None, *RANKS):
        raise ValueError(f"return_indices_ranked_by: found {return_indices_ranked_by!r}, wanted None "
                         f"or one of {', '.join(RANKS)}")
    if (X is None) == (pred_probs is None):
        raise ValueError(f"find_label_issues: found {'neither' if X is None else 'both'} of pred_probs "
                         "and X, wanted one of them")
    if X is None and settings:
        raise TypeError(f"find_label_issues() got an unexpected keyword argument {min(settings)!r}")
    if n_jobs is not None and n_jobs < 1:
        raise ValueError(f"n_jobs: found {n_jobs}, wanted None or at least 1")
    adjusted = bool(rank_by_kwargs and rank_by_kwargs.get("adjust_pred_probs"))
    if unknown := set(rank_by_kwargs or {}) - {"adjust_pred_probs"}:
        raise ValueError(f"rank_by_kwargs: found {min(unknown)!r}, wanted 'adjust_pred_probs'")
    if adjusted and return_indices_ranked_by not in RANKS[1:3]:
        raise ValueError("rank_by_kwargs: found adjust_pred_probs with return_indices_ranked_by="
                         f"{return_indices_ranked_by!r}, wanted {' or '.join(RANKS[1:3])}")
    own = {"frac_noise": frac_noise != 1, "min_examples_per_class": min_examples_per_class != 1,
           "confident_joint": confident_joint is not None,
           "num_to_remove_per_class": num_to_remove_per_class is not None}
    unused = [name for name in own if own[name] and filter_by not in PRUNING]
    if confusion is not None and "probability" != filter_by and return_indices_ranked_by != "label_quality":
        unused.append("confusion")
    if unused:
        raise ValueError(f"{unused[0]}: found it with filter_by={filter_by!r}, which has no use for it; "
                         f"{', '.join(PRUNING)} use {', '.join(own)}, and probability confusion")
    if not 0 <= frac_noise <= 1:
        raise ValueError(f"frac_noise: found {frac_noise}, wanted a share from 0 to 1")
    same_rows(X=X, pred_probs=pred_probs, labels=labels)
    of: Labels = labels_of(labels, what="labels")
    known, n = np.flatnonzero(of.codes >= 0), len(of.codes)
    wanted = return_indices_ranked_by
    p: Any = None
    if X is None:
        of, p = columns_of(of, pred_probs)
    else:
        of = with_classes(labels, confusion, "labels")
        if filter_by != "probability" or wanted in RANKS[1:]:
            found = _asked("cross_validate", X, of, None, settings)["probabilities"]
            p = found.reshape(n, len(of.classes)).astype(float)
    if filter_by == "probability" or wanted == "label_quality":
        by_models = X is not None and filter_by == "probability"
        quality = _asked("find_issues", X if by_models else None, of, confusion,
                         settings if by_models else {}, None if by_models else p)["quality"][known]
    judged: Any = None if p is None else Judged(of.codes[known], p[known])
    if filter_by == "probability":
        wrong = quality < 0.5
    else:
        remove, joint = (_classwise(name, value, (len(of.classes),) * dims) for name, value, dims in (
            ("num_to_remove_per_class", num_to_remove_per_class, 1),
            ("confident_joint", confident_joint, 2)))
        wrong = issues_by(filter_by, judged, frac_noise, remove, min_examples_per_class, joint)
    if verbose:
        print(f"Number of label issues found: {np.count_nonzero(wrong)}")
    mask = np.zeros(n, dtype=bool)
    mask[known] = wrong
    if wanted is None:
        return mask
    score = quality if wanted == "label_quality" else scores(judged, wanted, adjusted)
    return known[np.argsort(np.where(wrong, score, np.inf), kind="stable")[:mask.sum()]]


def _classwise(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    """Return counts of classes, or of pairs of them, as whole numbers; None for none."""
    if value is None:
        return None
    counts = np.asarray(value, dtype=float)
    if counts.shape != shape or not (np.isfinite(counts) & (counts == abs(np.floor(counts)))).all():
        raise ValueError(f"{name}: found {np.asarray(value).tolist()}, wanted whole numbers of at least "
                         f"0 of shape {shape}, in the order of the classes")
    return counts.astype(int)


def _asked(function: str, X: Any, labels: Labels, confusion: Any, settings: dict[str, Any],
           p: Any = None) -> Any:
    """Return what models find that have not seen the examples which they judge, or probabilities p
    from elsewhere."""
    arrays = {} if p is None else {"probabilities": p.astype(np.float32).ravel()}
    return asked(function, X, labels, confusion, settings, arrays)
