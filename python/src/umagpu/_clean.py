"""Clean labels: which are wrong, what is right, and a model of the corrected ones."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import pandas

from ._classifier import NoisyClassifier, Page
from ._data import Labels, framed, is_frame, labels_of, same_rows, wire
from ._requests import asked, index_of, named, page_of, with_classes, without


@dataclass(repr=False, eq=False)
class Cleaned:
    """What clean has found. Rows are those of the data, and are called by their index.

    Attributes
    ----------
    issues : a DataFrame with a row for each example: given, wrong, probability (that the label is
        wrong), suggestion, confidence (in the suggestion), reason (if wrong) and review (1 for the
        row to check next, NA of rows that need no check) and true (the checked label, else None):
        with more of these the DataFrame is a value for the argument checked.
    cleaned : the data with corrected labels, of the type they had: a copy.
    model : a NoisyClassifier of the corrected labels, which predicts such data.
    confusion : P(noisy = row | true = column), a DataFrame; close to the identity without evidence.
    probabilities : a DataFrame of P(true class | row), by models that have not seen the row.
    report, review : pages, which notebooks show and save(path) writes; review is for people who
        check rows, and saves checked.csv for the argument checked.
    details : everything else that was found, such as "hypotheses" and "expected_error". Where
        "not_identified" names classes, the true classes of the rows "to_identify" would tell them.
    text : what summary() returns.
    """

    issues: Any
    cleaned: Any
    model: NoisyClassifier
    confusion: Any
    probabilities: Any
    report: Page
    review: Page
    details: dict[str, Any]
    text: str

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def __repr__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Return the report in a few lines."""
        return self.text


def clean(X: Any, label: Any = None, *, confusion: Any = None, checked: Any = None, name: Optional[str] = None,
          **options: Any) -> Cleaned:
    """Find the wrong labels, correct them, and learn a model: clean(df, label="y") or clean(X, y).

    Parameters
    ----------
    X : a DataFrame of numbers, categories, texts, booleans and times, with missing values; or an
        array or a sparse matrix.
    label : the name of the column of labels, or labels, one for each row. None, NaN and pandas.NA
        are no label: such rows get a suggestion.
    confusion : P(noisy = row | true = column); None to estimate it.
    checked : true labels of rows that somebody has checked: a Series by index, a dict {row: label},
        a DataFrame with a column true, such as an edited issues, or the path of checked.csv, which
        the review page saves; or one value for each row, None or NaN where not checked; or the name
        of their column.
    name : what pages call the data.
    options : of the table and the training: text=["title"] names columns of free text,
        ignore_columns=["id"] leaves columns out; also categories, missing, normalize, seed and others
        of uma-gpu clean, with _ for -; and device and verbose.

    The wrong labels are those that find_label_issues finds. details["shown"] says whether anything
    shows wrong labels; without, suspects may be rare but right.
    """
    X, call_text = framed(X), "umagpu.clean(X, y)"
    data, y, column = X, label, None
    if label is None:
        raise ValueError("label: found None, wanted the name of a column or a label for each row")
    if _is_name(label):
        column = label
        call_text = f"umagpu.clean(df, label={label!r})"
        data, y = _without(X, label, "label")
    if isinstance(checked, str) and os.path.isfile(checked) and checked not in getattr(X, "columns", ()):
        file = pandas.read_csv(checked, dtype=str, keep_default_na=False)  # "NA" is a class
        if not {"row", "label"} <= set(file):
            raise ValueError(f"checked: found the columns {list(file)} in {checked}, wanted row and label, as "
                             "the review page saves them")
        checked = file.set_index("row")["label"]
    elif checked is not None and _is_name(checked):
        data, checked = _without(data, checked, "checked")
    if ignored := options.pop("ignore_columns", None):
        data = without(data, ignored)
    index = index_of(X)
    if is_frame(y) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    elif isinstance(y, pandas.api.extensions.ExtensionArray):
        y = pandas.Series(y, index=index if len(y) == len(index) else None)
    same_rows(X=X, label=y)
    labels = with_classes(y, confusion, "label" if column is None else f"column {column!r}")
    arrays = {}
    if checked is not None:
        right = labels_of(_by_row(checked, index, labels), what="checked")
        places = [labels.names.index(n) if n in labels.names else -1 for n in right.names]
        if -1 in places:
            raise ValueError(f"checked: found class {right.classes.tolist()[places.index(-1)]!r}, wanted one of "
                             f"{labels.classes.tolist()}")
        arrays["checked"] = np.array([*places, -1], np.int32)[right.codes]
    again = call_text[:-1] + ", checked='checked.csv')"
    options["page"] = page_of(X, name, call_text, again)
    found = asked("clean", data, labels, confusion, options, arrays)
    classes, cleaned = labels.classes, found.pop("cleaned")
    review = found.pop("review", np.empty(0, int))
    order = pandas.array([None] * len(index), dtype="Int64")
    order[review] = np.arange(1, len(review) + 1)
    issues = pandas.DataFrame({
        "given": named(classes, labels.codes), "wrong": found.pop("wrong").astype(bool),
        "probability": found.pop("wrong_probability"),
        "suggestion": named(classes, found.pop("suggested")), "confidence": found.pop("sure"),
        "reason": found.pop("reasons", None) or "", "review": order,
        "true": named(classes, arrays.get("checked", np.full(len(index), -1)))}, index=index)
    found["to_identify"] = index[found.pop("to_identify", np.empty(0, int))].tolist()
    c = found.pop("confusion", None)
    model = NoisyClassifier._of(
        found.pop("model").tobytes(), classes, list(data.columns) if is_frame(data) else None, column)
    return Cleaned(
        issues=issues, cleaned=_corrected(X, y, column, labels, cleaned), model=model,
        confusion=pandas.DataFrame(np.eye(len(classes)) if c is None else np.array(c, float),
                                   index=pandas.Index(classes, name="noisy"),
                                   columns=pandas.Index(classes, name="true")),
        probabilities=pandas.DataFrame(found.pop("probabilities").reshape(len(index), len(classes)),
                                       index=index, columns=classes),
        report=Page(found.pop("page").tobytes().decode()),
        review=Page(found.pop("review_page").tobytes().decode()),
        text=found.pop("text").tobytes().decode(), details=found)


def _is_name(value: Any) -> bool:
    return isinstance(value, (str, bytes, int, float, tuple, np.generic))


def _without(X: Any, name: Any, what: str) -> tuple[Any, Any]:
    """Return a DataFrame without a column, and the column."""
    if not is_frame(X):
        raise ValueError(f"{what}: found {name!r} beside an array, wanted values, one for each row; a "
                         "DataFrame has columns with names")
    if name not in X.columns:
        raise ValueError(f"{what}: found no column {name!r}, wanted one of {list(X.columns)}")
    return X.drop(columns=[name]), X[name]


def _by_row(checked: Any, index: Any, labels: Labels) -> Any:
    """Return a checked label for each row, None where there is none."""
    rows, given = len(labels.codes), None
    if is_frame(checked):
        if "true" not in checked:
            raise ValueError(f"checked: found a DataFrame with the columns {list(checked.columns)}, wanted a "
                             "column true, a Series by index, or a path")
        some = checked["true"].notna() & (checked["true"] != "")
        given, checked = checked[some].get("given"), checked["true"][some]
    if not hasattr(checked, "items"):
        if len(checked) != rows:
            raise ValueError(f"checked: found {len(checked)} labels, wanted {rows}, one for each row, "
                             "or a Series or dict by the index of rows")
        return checked
    if not index.is_unique:
        raise ValueError(f"checked: found the index {index[index.duplicated()].tolist()[0]!r} twice in X, wanted "
                         "a label for each row: a list, or X.reset_index()")
    keys, values = list(checked.keys()), np.full(rows, None, object)
    at = index.get_indexer(keys)
    if (at < 0).any() and (texts := index.map(str)).is_unique:  # as files have them
        at = np.where(at < 0, texts.get_indexer([str(key) for key in keys]), at)
    for k in np.flatnonzero(at < 0):
        raise ValueError(f"checked: found row {keys[k]!r}, wanted a row of the index of X")
    if len(set(at)) < len(at):
        raise ValueError("checked: found a row twice, wanted one label")
    for key, row, label in zip(keys, at, () if given is None else given):
        if labels.codes[row] >= 0 and wire(label) != labels.names[labels.codes[row]]:
            raise ValueError(f"checked: found row {key!r} with the given label {label!r}, which has "
                             f"{labels.names[labels.codes[row]]!r} in the data, wanted rows by the index of X; "
                             "pandas.read_csv(path, index_col=0) reads it")
    values[at] = [value for _, value in checked.items()]
    return values


def _corrected(X: Any, y: Any, column: Any, labels: Any, cleaned: Any) -> Any:
    """Return the data, or the labels, with those that have changed."""
    changed = np.flatnonzero((cleaned != labels.codes) & (cleaned >= 0))
    new = labels.classes[cleaned[changed]]
    if hasattr(y, "iloc"):
        y = y.copy()
        y.iloc[changed] = new if isinstance(y.dtype, np.dtype) else pandas.array(new.tolist(), y.dtype)
    else:
        y = np.array(y, subok=True)  # and a mask
        y = y.astype(np.result_type(y.dtype, labels.classes.dtype))
        y[changed] = new
    if column is None:
        return y
    X = X.copy()
    X[column] = y
    return X
