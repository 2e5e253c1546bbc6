"""Estimators by scikit-learn's rules, which run the commands of the program."""

from __future__ import annotations

import csv
import html
import io
import json
import warnings
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ._worker import Call, DoubtWarning

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6
    def validate_data(estimator: Any, *args: Any, **settings: Any) -> Any:
        return estimator._validate_data(*args, **settings)


def names_of(classes: Any) -> list[str]:
    """Return the names that the program has for classes."""
    if classes.dtype.kind == "f" and (classes == np.floor(classes)).all():
        classes = classes.astype(np.int64)
    return [str(c) for c in classes.tolist()]


def labels_of(y: Any) -> tuple[Any, Any]:
    """Return the classes of labels, and the labels as the program reads them."""
    classes, index = np.unique(y, return_inverse=True)
    if classes.dtype.kind in "iu":
        return classes, np.asarray(y)
    return classes, np.array(names_of(classes))[index.ravel()]


def order_of(classes: Any, names: list[str]) -> list[int]:
    """Return where the program has each of the classes."""
    at = {name: k for k, name in enumerate(names)}
    return [at[name] for name in names_of(classes)]


def noise_flags(call: Call, confusion: Any, classes: Any) -> list[str]:
    """Return the flags of a matrix, P(noisy = row | true = column); names of pandas tell axes."""
    if confusion is None:
        return []
    if hasattr(confusion, "to_csv"):
        named = confusion.index.name is not None or confusion.columns.name is not None
        return ["--confusion", call.write(".csv", confusion.to_csv().encode()),
                "--confusion-axes", "auto" if named else "true-columns"]
    c, names = np.asarray(confusion, dtype=float), names_of(classes)
    if c.shape != (len(names), len(names)):
        raise ValueError(f"confusion: found an array of shape {c.shape}, wanted "
                         f"{(len(names), len(names))}, for the classes {', '.join(names)}")
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["noisy\\true", *names])
    for name, row in zip(names, c.tolist()):
        table.writerow([name, *map(repr, row)])
    return ["--confusion", call.write(".csv", text.getvalue().encode())]


def write_annotations(call: Call, annotations: Any) -> tuple[str, Any]:
    """Write labels of annotators, a column each with gaps, and return their classes too."""
    columns = [str(c) for c in getattr(annotations, "columns", range(np.shape(annotations)[1]))]
    a = np.asarray(annotations, dtype=object)
    known = np.array([[v is not None and v == v and v != "" for v in row] for row in a.tolist()])
    classes = np.unique(a[known].tolist())
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["row", "worker", "label"])
    labels = iter(labels_of(np.array(a[known].tolist()))[1].tolist())
    for i, k in zip(*known.nonzero()):
        table.writerow([i + 1, columns[k], next(labels)])
    return call.write(".csv", text.getvalue().encode()), classes


def write_probabilities(call: Call, probabilities: Any) -> tuple[str, Any]:
    """Write a row for each example and a column for each class, and return the classes too."""
    if hasattr(probabilities, "to_csv"):
        classes = np.asarray(probabilities.columns)
        text = probabilities.set_axis(names_of(classes), axis=1).to_csv(index=False)
        return call.write(".csv", text.encode()), classes
    probabilities = np.ascontiguousarray(probabilities)
    return call.array(probabilities), np.arange(probabilities.shape[1])


def flags_of(options: Optional[dict[str, Any]]) -> list[str]:
    """Return flags: {"max_steps": 8, "learn_confusion": True} is --max-steps=8 --learn-confusion."""
    flags = []
    for name, value in (options or {}).items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            flags.append(f"{flag}={value}")
    return flags


def _by_content(X: Any, y: Any, weight: Any) -> Any:
    """Return the rows of a weight other than 0, in an order that others, and theirs, have no say in."""
    index = np.unique(y, return_inverse=True)[1].ravel()
    if hasattr(X, "tocsr"):
        X = X.sorted_indices()
        cut = [slice(*ends) for ends in zip(X.indptr[:-1], X.indptr[1:])]
        order = np.array(sorted(range(len(index)), key=lambda i: (
            X.indices[cut[i]].tobytes(), X.data[cut[i]].tobytes(), index[i])))
    else:
        content = np.ascontiguousarray(np.column_stack([X, index]), dtype=">f8")
        order = content.view(f"V{8 * content.shape[1]}").ravel().argsort(kind="stable")
    return order[weight[order] != 0]


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


class _Program(BaseEstimator):
    """What estimators have in common whose work is the program's."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _seed(self) -> Any:
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return self.random_state
        return check_random_state(self.random_state).randint(1 << 31)


class NoisyClassifier(ClassifierMixin, _Program):
    """A classifier that learns from labels which are wrong in a known way, or right.

    Parameters
    ----------
    learner : name of a learner; umagpu.run("learners") lists them.
    confusion : None (labels are right), "estimate", an array with P(noisy = row | true = column)
        in the order of the classes, or a DataFrame with names, also of counts.
    kernel : None, "rbf", "poly" or "linear".
    device : None (auto), "cpu", "opencl" or a name.
    correction : None (the learner's), "forward", "backward", "em", "none" or "auto".
    l2 : None (searched) or a number, the penalty on the size of the weights.
    time_budget : seconds that a fit may take, None for no limit.
    random_state : None (the same choices every time), a number, or a RandomState.
    options : further flags of uma-gpu train, such as {"gamma": "search", "max_steps": 100}.
    verbose : whether notes and progress go to standard error.
    """

    def __init__(self, learner: str = "softmax", *, confusion: Any = None,
                 kernel: Optional[str] = None, device: Optional[str] = None,
                 correction: Optional[str] = None, l2: Any = None,
                 time_budget: Optional[float] = None, random_state: Any = None,
                 options: Optional[dict[str, Any]] = None, verbose: bool = False) -> None:
        self.learner = learner
        self.confusion = confusion
        self.kernel = kernel
        self.device = device
        self.correction = correction
        self.l2 = l2
        self.time_budget = time_budget
        self.random_state = random_state
        self.options = options
        self.verbose = verbose

    def _flags(self, **defaults: Any) -> list[str]:
        return flags_of({"device": self.device, "learner": self.learner, "kernel": self.kernel,
                         "correction": self.correction, "l2": self.l2, "seed": self._seed(),
                         **defaults, **(self.options or {})})

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, annotations: Any = None,
            probabilities: Any = None) -> "NoisyClassifier":
        """Learn from noisy labels y; from those of annotators, a column each; or from
        probabilities of the classes, which the columns of a DataFrame name, else 0, 1, ...
        """
        plain = annotations is None and probabilities is None
        if plain:
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype="numeric")
            check_classification_targets(y)
        else:
            X = validate_data(self, X, accept_sparse="csr", dtype="numeric")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
            if plain and (sample_weight == 0).any():
                rows = _by_content(X, y, sample_weight)
                X, y, sample_weight = X[rows], y[rows], sample_weight[rows]
        with Call(self.verbose) as call:
            data = ["--data", call.array(X)]
            if sample_weight is not None:
                data += ["--row-weights", call.array(sample_weight)]
            if annotations is not None:
                path, self.classes_ = write_annotations(call, annotations)
                data += ["--no-labels", "--annotators", path]
            elif probabilities is not None:
                path, self.classes_ = write_probabilities(call, probabilities)
                data += ["--no-labels", "--label-probabilities", path]
            else:
                self.classes_, labels = labels_of(y)
                unknown = str((self.options or {}).get("unknown_label", ""))
                known = np.array([name != unknown for name in names_of(self.classes_)], bool)
                self.classes_ = self.classes_[known]
                if len(self.classes_) < 2:
                    raise ValueError(f"y: found {len(self.classes_)} class, wanted 2 or more")
                data += ["--labels", call.array(labels)]
            for doubt in self._fit(call, data):
                warnings.warn(f"{doubt['text']}; {doubt['advice']}", DoubtWarning, stacklevel=2)
        return self

    @available_if(_is_online)
    def partial_fit(self, X: Any, y: Any, classes: Any = None,
                    sample_weight: Any = None) -> "NoisyClassifier":
        """Learn from more examples, each of them once and in their order.

        However examples are cut into calls, the weights have the same bits. The first call names all
        classes, and scales no feature; behind a fit it goes on with the model of that.
        """
        first = not hasattr(self, "model_")
        X, y = validate_data(self, X, y, reset=first, accept_sparse="csr", dtype="numeric")
        if first and classes is None:
            raise ValueError("classes: found None in the first call of partial_fit, wanted all classes")
        known = self.classes_ if classes is None else np.unique(classes)
        if not first and not np.array_equal(known, self.classes_):
            raise ValueError(f"classes: found {known}, wanted {self.classes_} as before")
        if (unknown := np.setdiff1d(y, known)).size:
            raise ValueError(f"y: found class {unknown[0]}, wanted one of {known}")
        if isinstance(self.confusion, str):
            raise ValueError(f"confusion: found {self.confusion!r}, wanted None, an array or a "
                             "DataFrame: partial_fit sees a part of the examples")
        self.classes_, names = known, np.array(names_of(known))
        with Call(self.verbose) as call:
            data = ["--data", call.array(X), "--labels", call.array(names[np.searchsorted(known, y)])]
            if sample_weight is not None:
                weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
                data += ["--row-weights", call.array(weight)]
            if first:
                start = call.path(".npz")
                zero = {"coef_": np.zeros((len(known), X.shape[1])).tolist(),
                        "classes_": names.tolist()}
                call.run("import", "--coefficients", call.write(".json", json.dumps(zero).encode()),
                         "--out", start)
            else:
                start = call.write(".npz", self.model_)
            self._fit(call, [*data, "--from", start],
                      max_steps=1, no_shuffle=True, no_average=True, weights="last")
        return self

    def _fit(self, call: Call, data: list[str], **defaults: Any) -> Any:
        """Train, take over the model, and return the doubts."""
        flags = self._flags(**defaults)
        if isinstance(self.confusion, str):
            if self.confusion != "estimate":
                raise ValueError(f"confusion: found {self.confusion!r}, wanted None, 'estimate', an "
                                 "array or a DataFrame")
            noise = ["--confusion", call.path(".csv")]
            call.run("confusion", "estimate", *data, "--out", noise[1],
                     *flags_of({"device": self.device}))
        else:
            noise = noise_flags(call, self.confusion, self.classes_)
        if self.time_budget is not None:
            flags.append(f"--time={self.time_budget}s")
        model = call.path(".npz")
        about = call.json("train", *data, *noise, *flags, "--model", model)
        with open(model, "rb") as file:
            self._take(file.read())
        return about["doubts"]

    def _take(self, data: bytes) -> None:
        """Take over a model file, for the classes that are known."""
        self.model_ = data
        arrays = np.load(io.BytesIO(data), allow_pickle=False)
        self.meta_ = json.loads(arrays["meta.json"])
        self.n_features_in_ = self.meta_["features"]["count"]
        self._order = order_of(self.classes_, self.meta_["classes"])
        self.confusion_ = None
        for name in ("learned", "confusion"):
            if name in arrays:
                self.confusion_ = arrays[name][np.ix_(self._order, self._order)]
                break

    def _predicted(self, X: Any, what: str) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype="numeric")
        with Call(self.verbose) as call:
            out = call.path(".npy", 4 * X.shape[0] * len(self.classes_) + 128)
            call.run("predict", "--model", call.write(".npz", self.model_), "--data", call.array(X),
                     "--no-labels", what, "--out", out, *flags_of({"device": self.device}))
            return np.load(out)[:, self._order]

    def decision_function(self, X: Any) -> Any:
        """Return the score of each class, of two classes the score of the second."""
        scores = self._predicted(X, "--scores")
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each true class."""
        return self._predicted(X, "--proba")

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Any:
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """Return the class of the largest score of each example."""
        check_is_fitted(self)
        return self.classes_[self._predicted(X, "--scores").argmax(axis=1)]

    def report(self, X: Any, y: Any) -> Page:
        """Return a page on the model and on noisy labels: those of the fit, or others."""
        check_is_fitted(self)
        X, y = validate_data(self, X, y, reset=False, accept_sparse="csr", dtype="numeric")
        with Call(self.verbose) as call:
            page = call.path(".html")
            call.paths.append(page[:-len("html")] + "json")
            call.run("report", "--model", call.write(".npz", self.model_), "--data", call.array(X),
                     "--labels", call.array(labels_of(y)[1]), "--out", page,
                     *noise_flags(call, self.confusion_, self.classes_),
                     *flags_of({"device": self.device}))
            with open(page, encoding="utf-8") as file:
                return Page(file.read())

    def save(self, path: str) -> None:
        """Write the model file that uma-gpu train writes."""
        check_is_fitted(self)
        with open(path, "wb") as file:
            file.write(self.model_)

    @classmethod
    def load(cls, path: str) -> "NoisyClassifier":
        """Return a classifier of a model file; classes are numbers if their names are."""
        with open(path, "rb") as file:
            data = file.read()
        with Call() as call:  # which checks the file
            call.run("inspect", "--model", call.write(".npz", data))
        meta = json.loads(np.load(io.BytesIO(data))["meta.json"])
        new = cls(meta["learner"])
        try:
            new.classes_ = np.array([int(name) for name in meta["classes"]])
            if names_of(new.classes_) != meta["classes"]:
                raise ValueError
        except ValueError:
            new.classes_ = np.array(meta["classes"])
        new._take(data)
        return new


class KernelMap(TransformerMixin, _Program):
    """The kernel principal components of examples."""

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
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric", ensure_min_samples=2)
        with Call() as call:
            basis = call.path(".npz")
            call.run("kpca", "fit", "--data", call.array(X), "--basis", basis,
                     *flags_of({"kernel": self.kernel, "components": self.n_components,
                                "seed": self._seed(), "gamma": self.gamma, "device": self.device,
                                **(self.options or {})}))
            with open(basis, "rb") as file:
                self.basis_ = file.read()
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype="numeric")
        with Call() as call:
            out = call.path(".npy")
            call.run("kpca", "transform", "--basis", call.write(".npz", self.basis_), "--data",
                     call.array(X), "--out", out, *flags_of({"device": self.device}))
            return np.load(out).astype(X.dtype if X.dtype.kind == "f" else np.float32)
