#!/usr/bin/python3
"""Writes liblinear.csv: the weights that LIBLINEAR finds for 60 examples (Debian's liblinear-tools).

A line is the solver (-s), the cost, the number of classes, then the weights, row-major: of two classes
those of the second, else one row for each class. scikit-learn's LinearSVC has to find the
same. The examples are made in liblinear_test.go too.
"""
import os
import subprocess
import tempfile
import warnings

import numpy as np
from sklearn.svm import LinearSVC

warnings.simplefilter("ignore")
i, j = np.meshgrid(np.arange(60), np.arange(6), indexing="ij")
x = ((i * 7 + j * 13 + i * j * 5 + i * i) % 17 - 8) / 8
side = x[:, 0] + x[:, 1] / 2 - x[:, 3]
sklearn = {
    1: dict(loss="squared_hinge"),
    3: dict(loss="hinge"),
}


def liblinear(solver, cost, y, q):
    with tempfile.TemporaryDirectory() as folder:
        data, model = os.path.join(folder, "data"), os.path.join(folder, "model")
        with open(data, "w") as f:
            for k, row in zip(y, x):
                print(k, *(f"{c + 1}:{v!r}" for c, v in enumerate(row.tolist())), file=f)
        command = ["liblinear-train", "-q", "-s", str(solver), "-c", str(cost), "-e", "1e-8", data, model]
        subprocess.run(command, check=True)
        with open(model) as f:
            lines = f.read().split("\n")
    at = lines.index("w")
    labels = [int(k) for k in next(l for l in lines if l.startswith("label")).split()[1:]]
    w = np.array([[float(v) for v in line.split()] for line in lines[at + 1:] if line]).T
    if len(w) == 1:
        return w if labels[0] == 1 else -w
    return w[np.argsort(labels)]


with open("liblinear.csv", "w") as f:
    print("# LIBLINEAR 2.3.0, by liblinear.py", file=f)
    for q in 2, 4:
        y = (side > 0).astype(int) if q == 2 else np.digitize(side, [-0.7, 0, 0.7])
        y = np.where(np.arange(60) % 7 == 3, (y + 1) % q, y)
        for solver, options in sklearn.items():
            for cost in 0.03, 0.3, 3:
                w = liblinear(solver, cost, y, q)
                m = LinearSVC(C=cost, tol=1e-8, max_iter=10000000, fit_intercept=False, **options).fit(x, y)
                theirs = m.coef_
                if len(theirs) < len(w):
                    theirs = np.vstack([-theirs, theirs]) / 2
                worst = np.abs(w - theirs).max() / np.abs(w).max()
                print(solver, cost, q, "scikit-learn is off by", worst)
                assert worst < 1e-4
                print(solver, cost, q, *w.ravel(), sep=",", file=f)
