#!/usr/bin/python3
"""The mean classifier beside scikit-learn and numpy: kernelmean.py UMA_GPU [N [M [D]]]

Scores of M examples (10000) by the means of N (60000) of D features (784) and 10 classes: `uma-gpu predict --scores` of a
model with all examples as atoms, time of the whole process, against scikit-learn's rbf_kernel @ weights on the arrays in
memory, in pieces of 2000 so that it fits. Random numbers; both get as many threads as there are cores. One example alone
takes what reading the model takes. Then how far numbers are off: scores of 50 examples from those in float64, relative to
the largest of each example, and the weights of the linear mean, which sees no kernel function, from numpy's class means.
Prints JSON.
"""
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np


def process(command):
    """Runs a command; returns its seconds, those of all processors, and its peak memory in MiB."""
    start = time.perf_counter()
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    if status:
        sys.exit(f"{command}: exit status {status}")
    return {"seconds": time.perf_counter() - start, "cpu": used.ru_utime + used.ru_stime, "mib": used.ru_maxrss / 1024}


def peer(folder, n, d):
    """scikit-learn's scores, in a process of their own; returns as process does, without its reading."""
    code = f"""
import json, os, resource, time
import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
x, y, xt = (np.load(f"{folder}/" + name) for name in ("x.npy", "y.npy", "t.npy"))
weights = np.zeros(({n}, 10), np.float32)
weights[np.arange({n}), y] = 1 / {n}
before, start = os.times(), time.perf_counter()
for at in range(0, len(xt), 2000):
    rbf_kernel(xt[at:at + 2000], x, {6 / d!r}) @ weights
used = os.times()
print(json.dumps({{"seconds": time.perf_counter() - start, "cpu": used.user + used.system - before.user - before.system,
                   "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}}))
"""
    return json.loads(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout)


def off(x, y, xt, scores, d):
    """How far scores are from float64's at most, relative to the largest of each example."""
    worst, x = 0.0, x.astype(np.float64)
    square = (x * x).sum(1)
    for at in np.linspace(0, len(xt) - 1, 50).astype(int):
        t = xt[at].astype(np.float64)
        values = np.exp(-6 / d * (square + t @ t - 2 * (x @ t)))
        want = np.bincount(y, values, 10) / len(x)
        worst = max(worst, float(np.abs(scores[at] - want).max() / want.max()))
    return worst


def main(uma, n=60000, m=10000, d=784):
    n, m, d = int(n), int(m), int(d)
    rng = np.random.default_rng(1)
    x, xt = (rng.random((s, d), np.float32) for s in (n, m))
    y = rng.integers(0, 10, n)
    found = {"n": n, "m": m, "d": d}
    with tempfile.TemporaryDirectory() as f:
        for name, array in (("x", x), ("y", y), ("t", xt)):
            np.save(f"{f}/{name}.npy", array)
        np.save(f"{f}/one.npy", xt[:1])
        train = [uma, "train", "--data", f"{f}/x.npy", "--labels", f"{f}/y.npy", "--normalize", "none", "--learner",
                 "kernelmean", "--device", "cpu", "--quiet", "--model", f"{f}/m.npz"]
        process(train)
        with zipfile.ZipFile(f"{f}/m.npz") as model:
            w = np.load(io.BytesIO(model.read("W.npy")))
        sums = np.stack([x[y == k].sum(0, dtype=np.float64) for k in range(10)]) / n
        found["linear_off"] = float((np.abs(w - sums) / np.abs(sums)).max())
        # Training maps its own examples too: n² kernel values.
        found["train"] = process(train + ["--kernel", "rbf", "--gamma", repr(6 / d)])
        predict = [uma, "predict", "--model", f"{f}/m.npz", "--no-labels", "--scores", "--device", "cpu", "--quiet", "--out",
                   f"{f}/s.npy", "--data"]
        found["one"] = process(predict + [f"{f}/one.npy"])
        found["uma"] = process(predict + [f"{f}/t.npy"])
        found["scores_off"] = off(x, y, xt, np.load(f"{f}/s.npy"), d)
        del x, sums
        found["sklearn"] = peer(f, n, d)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
