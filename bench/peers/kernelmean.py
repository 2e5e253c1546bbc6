#!/usr/bin/python3
"""The mean classifier beside scikit-learn and numpy: kernelmean.py UMA_GPU [N [M [D [K]]]]

Scores of M examples (10000) by the means of N (60000) of D features (784) and 10 classes: `uma-gpu predict --scores` of a
model with all examples as atoms, time of the whole process, against scikit-learn's rbf_kernel @ weights on the arrays in
memory, in pieces of 2000 so that it fits. Then farthest-first traversal of K examples (0: left out) by numpy, as
`--atom-choice clusters` does it in training. Random bytes; both get as many threads as there are cores. Prints JSON.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np


def peak(command):
    """Runs a command; returns its seconds and its peak memory in MiB."""
    start = time.perf_counter()
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    if status:
        sys.exit(f"{command}: exit status {status}")
    return time.perf_counter() - start, used.ru_maxrss / 1024


def farthest(x, gamma, k):
    """Gonzalez' traversal by rows of kernel values."""
    square = (x * x).sum(1)
    nearest, centre = np.full(len(x), np.inf, np.float32), 0
    for _ in range(k):
        d = 2 - 2 * np.exp(-gamma * np.maximum(0, square + square[centre] - 2 * (x @ x[centre])))
        np.minimum(nearest, d, out=nearest)
        centre = int(nearest.argmax())


def main(uma, n=60000, m=10000, d=784, k=0):
    from sklearn.metrics.pairwise import rbf_kernel

    n, m, d, k = int(n), int(m), int(d), int(k)
    rng = np.random.default_rng(1)
    x, xt = (rng.random((s, d), np.float32) for s in (n, m))
    y = rng.integers(0, 10, n)
    gamma = 6 / d
    found = {"n": n, "m": m, "d": d}
    with tempfile.TemporaryDirectory() as f:
        np.savez(f"{f}/x.npz", X=x, y=y)
        np.savez(f"{f}/t.npz", X=xt, y=np.zeros(m, np.int64))
        np.savez(f"{f}/one.npz", X=xt[:1], y=np.zeros(1, np.int64))
        train = [uma, "train", "--data", f"{f}/x.npz", "--normalize", "none", "--learner", "kernelmean", "--kernel", "rbf",
                 "--gamma", repr(gamma), "--device", "cpu", "--quiet", "--model", f"{f}/m.npz"]
        # Training maps its own examples too: n² kernel values, or n·K.
        found["train_seconds"], found["train_mib"] = peak(train + (["--atoms", str(k), "--atom-choice", "clusters",
                                                          "--atom-weights", "own"] if k else []))
        predict = [uma, "predict", "--model", f"{f}/m.npz", "--no-labels", "--scores", "--device", "cpu", "--quiet", "--out",
                   f"{f}/s.csv", "--data"]
        if not k:
            found["one_seconds"], _ = peak(predict + [f"{f}/one.npz"])  # reading the model, which all of them do
            found["uma_seconds"], found["uma_mib"] = peak(predict + [f"{f}/t.npz"])
    start = time.perf_counter()
    if k:
        for c in range(10):
            farthest(x[y == c], gamma, k // 10)
        found["numpy_farthest_seconds"] = time.perf_counter() - start
    else:
        weights = np.zeros((n, 10), np.float32)
        weights[np.arange(n), y] = 1 / n
        for at in range(0, m, 2000):
            rbf_kernel(xt[at:at + 2000], x, gamma) @ weights
        found["sklearn_seconds"] = time.perf_counter() - start
        found["sklearn_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
