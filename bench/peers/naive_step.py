#!/usr/bin/python3
"""UMA's step as one would write it with numpy: naive_step.py DIR masked|gemm STEPS

All scores, all class sums and all update vectors are computed afresh in each
step, in float32. The class sums are made in one of two ways: masked selects
each cell and adds its rows; gemm multiplies the rows of each region by the
one-hot matrix of their labels. Prints one JSON object.
"""
import json
import sys
import time

import numpy as np
from threadpoolctl import threadpool_info


def masked(x, y, predicted, q):
    g = np.zeros((q, q, x.shape[1]), np.float32)
    for p in range(q):
        for k in range(q):
            g[p, k] = x[(predicted == p) & (y == k)].sum(0)
    return g


def gemm(x, y, predicted, q):
    g = np.zeros((q, q, x.shape[1]), np.float32)
    one_hot = np.eye(q, dtype=np.float32)
    for p in range(q):
        region = np.flatnonzero(predicted == p)
        if len(region):
            g[p] = one_hot[y[region]].T @ x[region]
    return g


def step(x, y, w, inverse, class_sums):
    """One step of UMA with the perceptron's update; returns the counts."""
    n, q = len(x), len(w)
    predicted = (x @ w.T).argmax(1)
    g = class_sums(x, y, predicted, q)
    z = np.einsum("qk,pkd->pqd", inverse, g, optimize=True) / n
    norms = (z**2).sum(2)
    np.fill_diagonal(norms, -1)
    for pair in norms.ravel().argsort()[::-1]:
        p, r = divmod(pair, q)
        if p != r and z[p, r] @ (w[p] - w[r]) >= 0:
            w[p] -= z[p, r]
            w[r] += z[p, r]
            break
    return np.bincount(predicted * q + y, minlength=q * q).reshape(q, q)


def main(folder, how, steps):
    x, y = np.load(folder + "/x.npy"), np.load(folder + "/noisy.npy")
    q = int(y.max()) + 1
    c = np.loadtxt(folder + "/C.csv", delimiter=",", skiprows=1)[:, 1:]
    inverse = np.linalg.inv(c)
    w, seconds = np.zeros((q, x.shape[1]), np.float32), []
    estimated = 1.0
    for _ in range(int(steps)):
        start = time.perf_counter()
        counts = step(x, y, w, inverse.astype(np.float32), {"masked": masked, "gemm": gemm}[how])
        seconds.append(time.perf_counter() - start)
        estimated = min(estimated, 1 - (counts / len(x) * inverse).sum())
    blas = [f"{i['internal_api']} {i['version']} ({i['architecture']}, {i['num_threads']} threads)" for i in threadpool_info() if i["user_api"] == "blas"]
    print(json.dumps({"seconds": float(np.median(seconds[1:])), "steps": int(steps), "estimated_error": float(estimated),
                      "numpy": np.__version__, "blas": ", ".join(blas)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
