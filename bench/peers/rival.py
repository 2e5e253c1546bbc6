#!/usr/bin/python3
"""A rival of uma-gpu: rival.py NAME dense|text SET NOISE

Reads a set that sets.py wrote, trains, and prints JSON: when all was imported and when it was trained, by the clock that
all processes share, and the error on the test examples. Pixels are divided by 255 (standardised for linear forward
correction), other dense features standardised. Rivals named forward and torch know C: they compare C times their
probabilities with the labels.
"""
import json
import os
import sys
import time
import warnings

import numpy as np

LANDMARKS, MOST = 1000, 20000  # of Nystroem; examples that a penalty is sought by


def read(form, folder, noise):
    """Returns training examples and labels, C, and a function that reads those to test by."""
    path, c = f"{folder}/C.{noise}.csv", None
    if os.path.exists(path):
        c = np.loadtxt(path, delimiter=",", skiprows=1)[:, 1:]
    if form == "text":
        from sklearn.datasets import load_svmlight_file
        x, y = load_svmlight_file(f"{folder}/x.{noise}.svm", dtype=np.float32, zero_based=False)
        test = lambda: load_svmlight_file(f"{folder}/xt.svm", n_features=x.shape[1], dtype=np.float32, zero_based=False)
    else:
        x, y = np.load(f"{folder}/x.npy"), np.load(f"{folder}/y.{noise}.npy")
        test = lambda: (np.load(f"{folder}/xt.npy"), np.load(f"{folder}/yt.npy"))
    y = y.astype(np.int64)
    return x, y, np.eye(y.max() + 1) if c is None else c, test


def scaled(x, pixels=True):
    """Returns what scales dense examples, pixels by their largest value; of text nothing."""
    if not isinstance(x, np.ndarray):
        return lambda x: x
    if pixels and x.min() == 0 and x.max() == 255:
        return lambda x: x / np.float32(255)
    mean, sd = x.mean(0, dtype=np.float64), x.std(0, dtype=np.float64)
    sd[sd == 0] = 1
    return lambda x: ((x - mean) / sd).astype(np.float32)


def fitted(make):
    """Trains an estimator of scikit-learn on scaled examples."""
    def fit(x, y, c):
        scale = scaled(x)
        x = scale(x)
        learner = make(x).fit(x, y)
        return lambda x: learner.predict(scale(x))
    return fit


def logistic():
    from sklearn.linear_model import LogisticRegression
    return fitted(lambda x: LogisticRegression())


def sgd():
    from sklearn.linear_model import SGDClassifier
    return fitted(lambda x: SGDClassifier(n_jobs=-1, random_state=1))


def svc():
    from sklearn.svm import SVC
    return fitted(lambda x: SVC())


def boosting():
    from sklearn.ensemble import HistGradientBoostingClassifier
    return fitted(lambda x: HistGradientBoostingClassifier(random_state=1))


def nystroem():
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    return fitted(lambda x: make_pipeline(Nystroem(gamma=1 / (x.shape[1] * x.var()), n_components=min(LANDMARKS, len(x)), random_state=1),
                                          LogisticRegression()))


def loss(w, x, y, c):
    """Returns the mean of the forward-corrected log-loss, and its gradient."""
    p = x @ w.T.astype(np.float32)
    p -= p.max(1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(1, keepdims=True)
    joint = p * c[y].astype(np.float32)
    of = np.maximum(joint.sum(1, keepdims=True), np.float32(1e-30))
    p -= joint / of
    return -np.log(of).mean(dtype=np.float64), (x.T @ p).T.astype(np.float64) / len(y)


def minimum(x, y, c, l2, w, iterations):
    """Returns the weights that L-BFGS finds by a penalty, from w."""
    from scipy.optimize import minimize

    def penalised(flat):
        w = flat.reshape(len(c), -1)
        value, gradient = loss(w, x, y, c)
        return value + l2 / 2 * (w * w).sum(), (gradient + l2 * w).ravel()
    found = minimize(penalised, w.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    return found.x.reshape(w.shape)


def searched(x, y, c, penalties):
    """Returns the held-out loss, penalty and weights of the best of penalties, from the largest; four fifths train."""
    train, test, found = np.arange(len(y)) % 5 > 0, np.arange(len(y)) % 5 == 0, []
    w = np.zeros((len(c), x.shape[1]))
    for l2 in penalties:
        w = minimum(x[train], y[train], c, l2, w, 40)
        found.append((loss(w, x[test], y[test], c)[0], l2, w))
    return min(found, key=lambda f: f[0])


def part(y):
    return np.random.default_rng(1).permutation(len(y))[:MOST]


def linear(search):
    import scipy.optimize

    def fit(x, y, c):
        scale = scaled(x, pixels=False)

        def ready(x):
            """Rows of length 1, dense ones with a bias, as uma-gpu makes them."""
            x = scale(x)
            if isinstance(x, np.ndarray):
                x = np.c_[x, np.ones(len(x), np.float32)]
                x /= np.linalg.norm(x, axis=1, keepdims=True)
            return x
        x, l2 = ready(x), 1e-5
        w = np.zeros((len(c), x.shape[1]))
        if search:
            some = part(y)
            _, l2, w = searched(x[some], y[some], c, 10.0 ** -np.arange(2, 7))
        w = minimum(x, y, c, l2, w, 40)
        return lambda x: (ready(x) @ w.T).argmax(1)
    return fit


def nystroem_forward():
    import scipy.optimize
    from sklearn.kernel_approximation import Nystroem

    def fit(x, y, c):
        scale, some = scaled(x), part(y)
        x, found = scale(x), []
        for times in (0.3, 1, 3):
            features = Nystroem(gamma=times / (x.shape[1] * x.var()), n_components=min(LANDMARKS, len(x)), random_state=1).fit(x)
            found.append((*searched(features.transform(x[some]), y[some], c, 10.0 ** -np.arange(3, 8)), features))
        _, l2, w, features = min(found, key=lambda f: f[0])
        w = minimum(features.transform(x), y, c, l2, w, 40)
        return lambda x: (features.transform(scale(x)) @ w.T).argmax(1)
    return fit


def torch(hidden):
    import torch

    def fit(x, y, c, epochs=20, batch=128):
        torch.manual_seed(1)
        torch.set_num_threads(len(os.sched_getaffinity(0)))
        scale, d, q = scaled(x), x.shape[1], len(c)
        x, labels, known = scale(x), torch.from_numpy(y), torch.from_numpy(c.astype(np.float32))
        first, rest = torch.nn.Linear(d, hidden or q), torch.nn.Sequential(*([torch.nn.ReLU(), torch.nn.Linear(hidden, q)] if hidden else []))

        def net(x):
            if isinstance(x, np.ndarray):
                return rest(first(torch.from_numpy(x)))
            columns, starts = torch.from_numpy(x.indices), torch.from_numpy(x.indptr[:-1])
            return first.bias + torch.nn.functional.embedding_bag(
                columns, first.weight.t().contiguous(), starts, mode="sum", per_sample_weights=torch.from_numpy(x.data))
        step = torch.optim.Adam([*first.parameters(), *rest.parameters()])
        for _ in range(epochs):
            for rows in torch.randperm(len(y)).split(batch):
                p = torch.softmax(net(x[rows.numpy()]), 1)
                step.zero_grad()
                (-(p * known[labels[rows]]).sum(1).clamp_min(1e-30).log().mean()).backward()
                step.step()
        with torch.no_grad():
            return lambda x: np.concatenate([net(scale(x[at:at + 1000])).argmax(1).numpy() for at in range(0, x.shape[0], 1000)])
    return fit


RIVALS = {"logistic": logistic, "sgd": sgd, "svc": svc, "boosting": boosting, "nystroem": nystroem,
          "forward": lambda: linear(False), "forward-search": lambda: linear(True), "nystroem-forward": nystroem_forward,
          "torch": lambda: torch(0), "torch-network": lambda: torch(256)}


def main(name, form, folder, noise):
    warnings.simplefilter("ignore")  # that it has not converged
    fit = RIVALS[name]()
    if form == "text":
        import sklearn.datasets
    imported = time.monotonic()
    x, y, c, test = read(form, folder, noise)
    predict = fit(x, y, c)
    trained = time.monotonic()
    xt, yt = test()
    return {"imported": imported, "trained": trained, "error": float((predict(xt) != yt).mean())}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
