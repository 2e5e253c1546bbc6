"""Estimators by scikit-learn's rules, whose work is the program's."""

from __future__ import annotations

import html
import io
import json
import os
import re
import sys
import zipfile
from typing import Any, Optional

import numpy as np
from sklearn.base import (BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin,
                          TransformerMixin)
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ._data import (Data, Labels, another_order, confusion_of, data_of, framed, is_frame, labels_of,
                    numbers_of, real, soft_of, votes_of, wire)
from ._requests import ask, listed, same_length, settings_of, with_classes, without
from ._worker import run, warn

# What fields of requests are called here.
KEYWORDS = {"data": "X", "labels": "y", "weights": "sample_weight", "votes": "annotations",
            "time": "time_budget", "seed": "random_state"}

def _weights(sample_weight: Any, rows: int) -> Any:
    """Return a weight for each row."""
    weights = real(sample_weight, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(rows, weights)
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight: found shape {weights.shape}, wanted ({rows},), a weight for "
                         "each row of X")
    if not weights.any():
        raise ValueError("sample_weight: found the weight zero of every row, wanted one above it")
    return weights


def by_position(**given: Any) -> None:
    """Warn of an index with the rows of X in another order, which scikit-learn's rules disregard."""
    if found := another_order(**given):
        warn(f"{found[1]}: found the index of {found[0]} in another order; rows are matched by position, "
             f"not by index, unless you pass {found[1]}.reindex({found[0]}.index)")


def _by_content(X: Any, codes: Any, weight: Any) -> Any:
    """Return the rows of a weight other than 0, in an order that the others, and the order of all,
    have no say in; a DataFrame's in their own."""
    if is_frame(X):
        return np.flatnonzero(weight)
    if hasattr(X, "tocsr"):
        X = X.sorted_indices()
        cut = [slice(*ends) for ends in zip(X.indptr[:-1], X.indptr[1:])]
        order = np.array(sorted(range(len(codes)), key=lambda i: (
            X.indices[cut[i]].tobytes(), X.data[cut[i]].tobytes(), codes[i])))
    else:
        content = np.ascontiguousarray(np.column_stack([X, codes]), dtype=">f8")
        order = content.view(f"V{8 * content.shape[1]}").ravel().argsort(kind="stable")
    return order[weight[order] != 0]


def fitted(what: str, model: Any) -> None:
    """Refuse what is no classifier of this package that was fitted."""
    if not isinstance(model, NoisyClassifier):
        raise ValueError(f"{what}: found a value of type {type(model).__name__}, wanted a NoisyClassifier")
    check_is_fitted(model)


class Page:
    """A page of HTML, which notebooks show."""

    def __init__(self, text: str) -> None:
        self.html = text

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="700" '
                'style="border:0"></iframe>')

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)


def _has_probabilities(estimator: "NoisyClassifier") -> bool:
    if hasattr(estimator, "meta_") and not estimator.meta_.get("temperature"):
        raise AttributeError(f"learner {estimator.learner}: found no temperature in its model, which "
                             "probabilities need; calibrate the model by umagpu.run")
    return True


ONLINE = ("perceptron", "ultraconservative", "mira", "pa", "pa1", "pa2", "copa")


def _is_online(estimator: "NoisyClassifier") -> bool:
    if estimator.learner not in ONLINE or estimator.kernel is not None:
        raise AttributeError(f"partial_fit: found learner {estimator.learner} and kernel "
                             f"{estimator.kernel}, wanted no kernel and one of {', '.join(ONLINE)}")
    return True


class _Program(BaseEstimator):  # type: ignore[misc]
    """What estimators have in common whose work is the program's.

    _features is what the file of the fit says of the features, and _label the name of the column of
    labels.
    """

    _label: Optional[str] = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def _more_tags(self) -> dict[str, Any]:  # before scikit-learn 1.6
        return {"allow_nan": True}

    def _seed(self) -> Any:
        random = check_random_state(self.random_state)  # which refuses what is no seed
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return self.random_state
        return random.randint(1 << 31)

    def _others(self) -> dict[str, Any]:
        """Return the settings in options."""
        if not isinstance(self.options or {}, dict):
            raise ValueError(f"options: found {self.options!r}, wanted a dict of settings")
        return {name: v for name, v in (self.options or {}).items() if name != "ignore_columns"}

    def _ignored(self) -> list[Any]:
        return listed(dict(self.options or {}).get("ignore_columns"))

    def _framed(self, X: Any) -> Any:
        """Return X without the columns that options ignore."""
        return without(X, self._ignored()) if self._ignored() else framed(X)

    def _saw(self, features: dict[str, Any], names: Optional[list[Any]]) -> None:
        """Take over what a file says of the features, and the names of a DataFrame's columns."""
        self._features = features
        self.n_features_in_ = len(columns_of(features)) or features["count"]
        self.__dict__.pop("feature_names_in_", None)
        if names and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)

    def _data(self, X: Any) -> Data:
        """Return examples like those of the fit, whose columns a DataFrame has by name."""
        names, named, me = names_in(self._features), hasattr(self, "feature_names_in_"), type(self).__name__
        X = framed(X)
        if not is_frame(X):
            X = numbers_of(X)
            if named:
                warn(f"X does not have valid feature names, but {me} was fitted with feature names")
        elif names and (named or set(names) <= set(map(wire, X.columns))):
            have = [wire(c) for c in X.columns]
            known = {*names, self._label, *map(wire, self._ignored())}
            if more := [name for name in have if name not in known]:
                warn(f"X: {len(more)} columns that {me} was not fitted with are left out, such as {more[0]!r}"
                     if len(more) > 1 else f"X: column {more[0]!r}, which {me} was not fitted with, is left out")
            X, names = X.iloc[:, [k for k, name in enumerate(have) if name in names]], None
        elif not names and all(isinstance(c, str) for c in X.columns):
            warn(f"X has feature names, but {me} was fitted without feature names")
        if (names or not is_frame(X)) and X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {me} is expecting "
                             f"{self.n_features_in_} features as input")
        return data_of(X.set_axis(names, axis=1) if is_frame(X) and names else X)


def columns_of(features: dict[str, Any]) -> list[tuple[str, str]]:
    """Return names and kinds of the columns of a model; none of a sparse matrix."""
    return [(c.get("name", ""), c["kind"]) for c in features.get("encoding", {}).get("columns", [])]


def names_in(features: dict[str, Any]) -> Optional[list[str]]:
    """Return the names of the columns that a model was fitted to; None if they have none."""
    names = [name for name, _ in columns_of(features)] or features.get("names")
    return names if names and any(names) else None


def _file(data: bytes, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a member of a model file tells, and the arrays of the file."""
    arrays = dict(np.load(io.BytesIO(data), allow_pickle=False))
    return json.loads(arrays[name]), arrays


class NoisyClassifier(ClassifierMixin, _Program):  # type: ignore[misc]
    """A classifier that learns from labels which are wrong in a known way, or right.

    Parameters
    ----------
    learner : name of a learner; umagpu.run("learners") lists them.
    confusion : None (labels are right), an array with P(noisy = row | true = column) in the order of
        the classes, or a DataFrame with names; also of counts. "estimate" learns the model of
        umagpu.clean, which chooses learner and kernel.
    confusion_axes : None (what names and sums of the confusion tell), "true-rows" or "true-columns".
    kernel : None, "rbf", "poly" or "linear".
    device : None (auto), "cpu", "opencl" or a name.
    correction : None (the learner's), "forward", "backward", "em", "none" or "auto".
    l2 : None (searched) or a number, the penalty on the size of the weights.
    text : names of the columns of free text, None for none.
    time_budget : seconds that a fit may take, None for no limit.
    random_state : None (the same choices every time), a number, or a RandomState.
    options : further settings, those of uma-gpu train and of the learner with _ for -, such as
        {"gamma": "search", "max_steps": 100}.
    verbose : whether notes and a summary go to standard error.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : those of every classifier of scikit-learn.
    model_ : bytes of the file that save writes, which uma-gpu train would have written.
    meta_ : what the file tells of the model.
    confusion_ : P(noisy = row | true = column) as learned, or else as given; None for none.
    """

    def __init__(self, learner: str = "softmax", *, confusion: Any = None,
                 confusion_axes: Optional[str] = None, kernel: Optional[str] = None,
                 device: Optional[str] = None, correction: Optional[str] = None, l2: Any = None,
                 text: Optional[list[str]] = None, time_budget: Optional[float] = None,
                 random_state: Any = None, options: Optional[dict[str, Any]] = None,
                 verbose: bool = False) -> None:
        self.learner = learner
        self.confusion = confusion
        self.confusion_axes = confusion_axes
        self.kernel = kernel
        self.device = device
        self.correction = correction
        self.l2 = l2
        self.text = text
        self.time_budget = time_budget
        self.random_state = random_state
        self.options = options
        self.verbose = verbose

    def _call(self, function: str, request: dict[str, Any], arrays: dict[str, Any], X: Any = None,
              what: str = "y", **more: Any) -> dict[str, Any]:
        return ask(function, request, arrays, X, {**KEYWORDS, "labels": what}, device=self.device,
                   verbose=self.verbose, **more)

    def _settings(self, **defaults: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        own = {"learner": self.learner, "kernel": self.kernel, "seed": self._seed(),
               "time": self.time_budget, "correction": self.correction, "l2": self.l2, "text": self.text}
        for name in self.options or ():
            if own.get(name) not in (None, "softmax"):
                raise ValueError(f"options: found {name!r} beside the parameter of this setting, wanted one "
                                 "of them")
        return settings_of({**own, **defaults, **self._others()})

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, annotations: Any = None,
            probabilities: Any = None, functions: Any = None, text: Optional[list[str]] = None,
            ) -> "NoisyClassifier":
        """Learn from noisy labels y; or from annotations, or votes of labelling functions, a column
        each with gaps; or from probabilities of the classes, which the columns of a DataFrame name,
        else 0, 1, ...

        X is an array, a sparse matrix or a DataFrame. Its columns may be numbers, categories, texts,
        booleans and times, with missing values. A row without a label in y (None, NaN, pd.NA) counts
        by its features. text replaces the parameter of that name in this fit.
        """
        evidence = {name: value for name, value in (
            ("y", y), ("annotations", annotations), ("probabilities", probabilities),
            ("functions", functions)) if value is not None}
        if not evidence:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the "
                             "target y is None, and so are annotations, probabilities and functions")
        if len(evidence) > 1:
            raise ValueError(f"{' and '.join(evidence)}: found both, wanted one of them")
        (what, given), = evidence.items()
        settings, table = self._settings(**({"text": text} if text is not None else {}))
        X = self._framed(X)
        by_position(X=X, **evidence, sample_weight=sample_weight)
        part: dict[str, Any] = {}
        more: dict[str, Any] = {"what": what}
        whole = X  # with rows of weight zero
        if what == "y":
            labels = with_classes(y, self.confusion)
            codes = labels.codes
            if sample_weight is not None:
                sample_weight = _weights(sample_weight, len(codes))
                if not sample_weight.all():
                    X = X if is_frame(X) else numbers_of(X)
                    same_length(what, len(codes), X.shape[0])
                    more["kept"] = kept = _by_content(X, codes, sample_weight)
                    X, codes = X.iloc[kept] if is_frame(X) else X[kept], codes[kept]
                    sample_weight = sample_weight[kept]
            arrays, rows = {"codes": codes}, len(codes)
        elif what == "probabilities":
            labels, soft = soft_of(probabilities)
            arrays, rows = {"soft": soft}, len(soft)
        else:
            labels, part, arrays, rows = votes_of(given, what=what, functions=what == "functions")
        data = data_of(X, **table)
        same_length(what, rows, data.rows)
        if sample_weight is not None:
            arrays["weights"] = _weights(sample_weight, rows)
        self._train(whole, data, labels, part, arrays, settings, **more)
        self._label = wire(y.name) if getattr(y, "name", None) is not None else None
        return self

    @available_if(_is_online)  # type: ignore[misc]
    def partial_fit(self, X: Any, y: Any, classes: Any = None,
                    sample_weight: Any = None) -> "NoisyClassifier":
        """Learn from more examples, each of them once and in their order.

        However examples are cut into calls, the weights have the same bits. The first call names all
        classes, and scales no feature; after a fit it continues with its model.
        """
        first = not hasattr(self, "model_")
        if first and classes is None:
            raise ValueError("classes: found None in the first call of partial_fit, wanted all classes")
        known = self.classes_ if classes is None else labels_of(classes, what="classes").classes
        if not first and not np.array_equal(known, self.classes_):
            raise ValueError(f"classes: found {known}, wanted {self.classes_} as before")
        if isinstance(self.confusion, str):
            raise ValueError(f"confusion: found {self.confusion!r}, wanted None, an array or a "
                             "DataFrame: partial_fit sees a part of the examples")
        labels = labels_of(y, known)
        settings, table = self._settings(max_steps=1, no_shuffle=True, no_average=True, weights="last",
                                         normalize="none" if first else None)
        X = self._framed(X)
        by_position(X=X, y=y, sample_weight=sample_weight)
        data = data_of(X, **table) if first else self._data(X)
        same_length("y", len(labels.codes), data.rows)
        arrays = {"codes": labels.codes}
        if sample_weight is not None:
            arrays["weights"] = _weights(sample_weight, data.rows)
        if not first:
            data.arrays["from"] = np.frombuffer(self.model_, np.uint8)
        self._train(X, data, labels, {}, arrays, settings, doubts=False)  # they are of all examples
        return self

    def _train(self, X: Any, data: Data, labels: Labels, part: dict[str, Any], arrays: dict[str, Any],
               settings: dict[str, Any], **more: Any) -> None:
        """Train, and then take over the model: a failure leaves the estimator as it was."""
        request: dict[str, Any] = {**settings, "data": data.part,
                                   "labels": {"classes": labels.names, **part}}
        arrays = {**data.arrays, **{f"labels.{name}": array for name, array in arrays.items()}}
        confusion, axes = self.confusion, self.confusion_axes
        if isinstance(confusion, str) and confusion == "estimate":
            request["estimate_confusion"] = True  # which chooses the model
            if request.get("learner") == "softmax":
                del request["learner"]
        elif confusion is not None:
            request["confusion"], matrix = confusion_of(confusion, labels, axes)
            arrays.update(matrix)
        result = self._call("train", request, arrays, X, **more)
        model = result["model"].tobytes()
        if self.verbose:
            sys.stderr.write(f"{result['learner']}: {result['examples']} examples, {result['steps']} steps "
                             f"({result['stop']}) on {result['device']['name']}\n")
        names = list(X.columns) if is_frame(X) else None
        if "from" in arrays:
            names = list(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        self.classes_ = labels.classes
        self._take(model, names)

    def _take(self, model: bytes, names: Optional[list[Any]]) -> None:
        """Take over a model file, for the classes that are known."""
        self.model_ = model
        self.meta_, arrays = _file(model, "meta.json")
        self._saw(self.meta_["features"], names)
        self.confusion_ = arrays.get("learned", arrays.get("confusion"))

    def _predicted(self, X: Any, what: str) -> Any:
        check_is_fitted(self)
        data = self._data(X)
        model = np.frombuffer(self.model_, np.uint8)
        found = self._call("predict", {"data": data.part, **({what: True} if what != "codes" else {})},
                           {**data.arrays, "model": model}, X)[what]
        return found if what == "codes" else found.reshape(data.rows, len(self.classes_))

    def decision_function(self, X: Any) -> Any:
        """Return the score of each class, of two classes the score of the second."""
        scores = self._predicted(X, "scores")
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_has_probabilities)  # type: ignore[misc]
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each true class."""
        return self._predicted(X, "probabilities")

    @available_if(_has_probabilities)  # type: ignore[misc]
    def predict_log_proba(self, X: Any) -> Any:
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """Return the class of the largest score of each example."""
        codes = self._predicted(X, "codes")
        return self.classes_[codes]

    @property
    def feature_importances_(self) -> Any:
        """Each column's share of what all splits of the trees have gained, of learner trees."""
        trees = getattr(self, "meta_", {}).get("trees")
        if trees is None:
            raise AttributeError(f"feature_importances_: found learner {self.learner}, wanted fitted trees")
        gains = np.zeros(self.n_features_in_)
        gains[trees["source"]] = trees["gain"]
        return gains / (gains.sum() or 1)

    def save(self, path: str) -> None:
        """Write the model file that uma-gpu train writes.

        Its comment has the type of the classes, if load would take their names for another one.
        """
        check_is_fitted(self)
        with open(path, "wb") as file:
            file.write(self.model_)
        kind = self.classes_.dtype.kind
        if kind in "OUf" and classes_of(self.meta_["classes"]).dtype.kind in "ib":
            with zipfile.ZipFile(path, "a") as archive:
                archive.comment = b"float" if kind == "f" else b"text"

    @classmethod
    def load(cls, path: str) -> "NoisyClassifier":
        """Return a classifier of a model file, with its parameters. Classes are whole numbers or
        truth values if all their names are, unless save has said otherwise."""
        run("inspect", "--model", os.fspath(path))  # which checks the file
        with open(path, "rb") as file:
            model = file.read()
        meta, _ = _file(model, "meta.json")
        comment = zipfile.ZipFile(io.BytesIO(model)).comment.decode()
        return cls._of(model, classes_of(meta["classes"], comment), names_in(meta["features"]))

    @classmethod
    def _of(cls, model: bytes, classes: Any, names: Optional[list[Any]], label: Any = None,
            ) -> "NoisyClassifier":
        """Return a classifier of a model file of these classes, fitted to columns of these names."""
        new = cls()
        new.classes_, new._label = classes, None if label is None else wire(label)
        new._take(model, names)
        new.set_params(**_parameters(new.meta_), confusion=_file(model, "meta.json")[1].get("confusion"))
        return new


def classes_of(names: list[str], kind: str = "") -> Any:
    """Return the classes of a model by their names, of the kind that save has told, if it has."""
    if not kind and set(names) == {"False", "True"}:
        kind = "truth"
    elif not kind and all(re.fullmatch("0|-?[1-9][0-9]*", name) for name in names):
        kind = "whole"
    make: Any = {"float": float, "whole": int, "truth": "True".__eq__}.get(kind)
    return np.array([make(name) for name in names] if make else names, dtype=None if make else object)


def _parameters(meta: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a classifier that a model was trained with, as far as they differ
    from those that training chooses."""
    usual = json.loads(run("learners", "--json", meta["learner"]))
    default = {p["flag"].split()[0][2:].replace("-", "_"): p["default"] for p in usual["parameters"]}
    options = {name: value for name, value in meta["parameters"].items()
               if str(value).lower() != default.get(name, "").lower()}
    if meta["weights"] != usual["weights"][0]:
        options["weights"] = meta["weights"]
    if meta["max_steps"] != usual["max_steps"]:
        options["max_steps"] = meta["max_steps"]
    if meta["preparation"]["steps"] not in ("standardize,bias,l2", "maxabs", "l2", "maxabs,l2"):
        options["normalize"] = meta["preparation"]["steps"]
    l2 = options.pop("l2", None)
    found = {"learner": meta["learner"], "correction": options.pop("correction", None),
             "l2": float(l2) if l2 else None, "random_state": meta["seed"] if meta["seed"] != 1 else None}
    if kernel := meta.get("kernel"):
        found["kernel"] = kernel["function"]["kind"]
        options.update({name: kernel["function"][name] for name, usual in (
            ("gamma", None), ("coef0", 1), ("degree", 3)) if kernel["function"].get(name, usual) != usual})
        if kernel["components"] not in (500, kernel["landmarks"]):
            options["components"] = kernel["components"]
    found["text"] = [name for name, kind in columns_of(meta["features"]) if kind == "text"] or None
    return {**found, "options": options or None}


class KernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Program):  # type: ignore[misc]
    """The kernel principal components of examples.

    Parameters
    ----------
    kernel : "rbf", "poly" or "linear".
    n_components : None (500, or all) or a number.
    gamma : None or "median" (that of the distances), or a number.
    device, random_state : as those of NoisyClassifier.
    options : further settings of uma-gpu kpca fit, with _ for -, such as {"landmarks": 1000}.
    """

    def __init__(self, kernel: str = "rbf", *, n_components: Optional[int] = None,
                 gamma: Any = None, device: Optional[str] = None, random_state: Any = None,
                 options: Optional[dict[str, Any]] = None) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.gamma = gamma
        self.device = device
        self.random_state = random_state
        self.options = options

    def fit(self, X: Any, y: Any = None) -> "KernelMap":
        """Find the components of examples, which NoisyClassifier.fit describes."""
        settings, table = settings_of({
            "kernel": self.kernel, "components": self.n_components, "gamma": self.gamma,
            "seed": self._seed(), **self._others()})
        X = self._framed(X)
        data = data_of(X, **table)
        if data.rows < 2:
            raise ValueError("X: found 1 sample, wanted 2 or more")
        found = ask("fit_kernel_map", {**settings, "data": data.part}, data.arrays, X,
                    device=self.device)
        self.basis_ = found["basis"].tobytes()
        self._n_features_out = found["components"]
        self._saw(_file(self.basis_, "basis.json")[0]["features"],
                  list(X.columns) if is_frame(X) else None)
        return self

    def transform(self, X: Any) -> Any:
        """Return the components of examples, a column each."""
        check_is_fitted(self)
        data = self._data(X)
        found = ask("apply_kernel_map", {"data": data.part}, {
            **data.arrays, "basis": np.frombuffer(self.basis_, np.uint8)}, X, device=self.device)
        single = getattr(X, "dtype", None) == np.float32
        return found["values"].reshape(data.rows, -1).astype(np.float32 if single else np.float64)
