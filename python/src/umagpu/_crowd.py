"""Votes of annotators and labelling functions."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import pandas
from sklearn.utils import Bunch

from ._classifier import NoisyClassifier
from ._data import framed, is_frame, labels_of, roles_of, same_rows, votes_of, wire
from ._requests import listed, named
from ._worker import call


class Consensus(Bunch):  # type: ignore[misc]
    """The likely true label of each item. An array of the labels, where one is asked for.

    Attributes
    ----------
    table : a DataFrame of label and probability by item, else by row; None and the prior's largest
        probability without a vote. label, probability : its columns.
    probabilities : a DataFrame of P(true class | votes).
    annotators : a DataFrame by name: labels and right (their share). None of functions.
    functions : a DataFrame by name: votes, coverage, overlap, conflict and right. None of annotators.
    by_class : a DataFrame of voters and classes: how often they agree where that is the consensus.
    confusions : P(vote = row | true = column) of each by name, as arrays.
    agreement : dict of krippendorff_alpha, fleiss_kappa (None unless items have equally many votes)
        and pairs, a DataFrame of Cohen's kappa of every two; 1 is always, 0 as by chance.
    model : a NoisyClassifier, if features were given; else None.
    details : everything else that was found, such as "confusion" of the consensus.
    classes, matrices : what consensus(..., matrices=) takes over.
    """

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.label, dtype=dtype)

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        return str(self.table._repr_html_())


def consensus(annotations: Any, *, method: Optional[str] = None, trust: Any = None,
              matrices: Optional[Consensus] = None, verbose: bool = False) -> Consensus:
    """Return the likely true label of each item, and how good annotators are.

    Parameters
    ----------
    annotations : a column for each annotator (a DataFrame, an array or a list of lists), or a
        DataFrame of votes: columns of items, workers and labels, which are found by their names
        (item, example, row or task; worker, annotator or user; label or answer; with _id or not) or
        by what they hold. None, NaN, pandas.NA and the number -1 are no vote.
    method : "dawid-skene", "majority" and others of uma-gpu confusion estimate; None lets the votes
        decide.
    trust : names of annotators whose labels are right.
    matrices : an earlier Consensus, by whose annotators the votes are judged; takes seconds.
    """
    return _consensus(annotations, "annotations", verbose, method=method, trust=trust,
                      matrices=matrices)


def weak_labels(votes: Any, X: Any = None, *, verbose: bool = False, **options: Any) -> Consensus:
    """Return the likely labels of rows by labelling functions, to which abstaining is evidence.

    votes is as in consensus. With features X a NoisyClassifier learns from the votes, with options,
    and labels all rows, also those that no function votes on.
    """
    if X is None and options:
        raise TypeError(f"weak_labels() got an unexpected keyword argument {min(options)!r} without X")
    if X is not None:
        same_rows(X=framed(X), votes=framed(votes))
    found = _consensus(votes, "votes", verbose, functions=True)
    if X is None:
        return found
    model = NoisyClassifier(verbose=verbose, options=options or None).fit(X, functions=votes)
    p = model.predict_proba(X)
    found.update(_tables(model.classes_[p.argmax(axis=1)], p, found.table.index, model.classes_),
                 model=model)
    return found


def _tables(label: Any, p: Any, index: Any, classes: Any) -> dict[str, Any]:
    table = pandas.DataFrame({"label": label, "probability": p.max(axis=1)}, index=index)
    return {"table": table, **dict(table.items()),
            "probabilities": pandas.DataFrame(p, index=index, columns=classes)}


def _consensus(votes: Any, what: str, verbose: bool, functions: bool = False, trust: Any = None,
               matrices: Optional[Consensus] = None, **settings: Any) -> Consensus:
    votes = framed(votes)
    long = _long(votes) if is_frame(votes) else None
    if long:
        labels, part, arrays, items = _votes_of_long(votes, long, what)
    else:
        labels, part, arrays, rows = votes_of(votes, what=what)
        items = votes.index if is_frame(votes) else pandas.RangeIndex(rows)
    if len(labels.classes) < 2 and matrices is None:
        raise ValueError(f"{what}: found {len(labels.classes)} class, {labels.names}, wanted 2 or more; "
                         "None, NaN and -1 are no votes")
    part["votes"]["functions"] = functions
    if trust is not None:
        part["votes"]["trust"] = [wire(v) for v in listed(trust)]
        if unknown := set(part["votes"]["trust"]) - set(part["votes"]["names"]):
            raise ValueError(f"trust: found {min(unknown)!r}, wanted one of {part['votes']['names']}")
    if matrices is not None and not isinstance(matrices, Consensus):
        raise ValueError(f"matrices: found a value of type {type(matrices).__name__}, wanted a Consensus, which "
                         "umagpu.consensus returns")
    if matrices is not None:
        settings["matrices"] = matrices.matrices
    request = {"labels": {"classes": labels.names, **part}, "examples": len(items),
               **{name: value for name, value in settings.items() if value is not None}}
    found = call("consensus", request, {f"labels.{at}": a for at, a in arrays.items()}, device="cpu",
                 verbose=verbose)
    classes = labels.classes if matrices is None else matrices.classes
    known = {name: found.get(name) for name in ("classes", "prior")}
    known["annotators"] = [dict(one) for one in found.get("annotators") or []]
    codes, agreement = found.pop("codes"), found.pop("agreement")
    p, voters = found.pop("probabilities").reshape(len(codes), -1), agreement.pop("voters")
    agreement["pairs"] = pandas.DataFrame(
        agreement["pairs"] or [], columns=["first", "second", "examples", "cohen_kappa"])
    each = found.pop("annotators", None) or found.pop("functions", [])
    confusions = {one["name"]: np.array(one.pop("confusion")) for one in each}
    about = pandas.DataFrame(each).set_index("name").drop(columns="standard_error", errors="ignore")
    return Consensus(
        **_tables(named(classes, codes), p, items, classes), agreement=agreement, confusions=confusions,
        by_class=pandas.DataFrame([v["by_class"] for v in voters], [v["name"] for v in voters], classes),
        annotators=None if functions else about, functions=about if functions else None,
        model=None, details=found, classes=classes, matrices=known)


def _long(votes: Any) -> Optional[list[Any]]:
    """Return the columns of items, workers and labels of a table of votes; None of a wide table."""
    if named := roles_of(votes.columns):
        return named
    if votes.shape[1] != 3 or len(votes) < 6 or not votes.columns.is_unique:
        return None
    item, worker, label = (votes.iloc[:, k] for k in range(3))
    # annotators agree; an item and a worker are together once, and have other values than labels
    alike = max(np.mean(item.to_numpy(object) == label.to_numpy(object)),
                np.mean(worker.to_numpy(object) == label.to_numpy(object)))
    once = not (votes.iloc[:, :2].duplicated() | item.isna() | worker.isna()).any()
    if once and item.duplicated().any() and alike < 0.3 and item.nunique() > label.nunique() \
            and worker.duplicated().any():
        return list(votes.columns)
    return None


def _votes_of_long(votes: Any, columns: list[Any], what: str) -> Any:
    """Return the classes, and votes with their arrays, of a table of items, workers and labels."""
    item, worker, label = (votes[c] for c in columns)
    gaps = votes[columns[:2]].isna().any(axis=1)
    if gaps.any():
        raise ValueError(f"{what}: found no {columns[0]} or {columns[1]} in row {votes.index[gaps].tolist()[0]!r}")
    twice = votes[columns[:2]].duplicated()
    if twice.any():
        raise ValueError(f"{what}: found {columns[1]} {worker[twice].tolist()[0]!r} twice on {columns[0]} "
                         f"{item[twice].tolist()[0]!r} (row {votes.index[twice].tolist()[0]!r}), wanted one vote")
    labels = labels_of([None if isinstance(v, (int, float)) and v == -1 else v for v in label.tolist()],
                       what=what)
    rows, items = pandas.factorize(item)
    by, workers = pandas.factorize(worker)
    names = [wire(w) for w in workers]
    if len(set(names)) < len(names):
        raise ValueError(f"{what}: found {columns[1]}s that have the same name as texts, wanted others")
    given = labels.codes >= 0
    arrays = {"votes.rows": rows[given].astype(np.int32), "votes.by": by[given].astype(np.int32),
              "votes.codes": labels.codes[given]}
    return labels, {"votes": {"names": names}}, arrays, pandas.Index(items, name=columns[0])
