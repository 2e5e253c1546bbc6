#!/usr/bin/python3
"""Is uma-gpu's logistic regression scikit-learn's? same_loss.py UMA_GPU TESTDATA

Trains both on the rows of length 1 of TESTDATA's digits.csv.gz and letter.csv.gz with right labels and the same
penalty, and compares the losses of their weights, computed here in float64. Prints one JSON object; exits with 1
if a loss of uma-gpu's is more than 1e-6 above the optimum, relative to it, that scikit-learn finds.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression


def loss(w, x, y, l2):
    """Mean cross entropy and the penalty, in float64."""
    scores = x @ w.T
    most = scores.max(1)
    logs = most + np.log(np.exp(scores - most[:, None]).sum(1))
    return (logs - scores[np.arange(len(y)), y]).mean() + l2 / 2 * (w**2).sum()


def by_uma_gpu(uma, folder, l2):
    model = folder + "/model.npz"
    printed = subprocess.run([uma, "train", "--json", "--quiet", "--device", "cpu", "--data", folder + "/x.npy",
                              "--labels", folder + "/y.npy", "--normalize", "none", "--l2", str(l2), "--iterations", "2000",
                              "--tolerance", "1e-6", "--model", model], check=True, capture_output=True).stdout
    return np.load(model)["W"].astype(np.float64), json.loads(printed)["steps"]


def main(uma, testdata):
    rows = []
    for name, label in (("digits", -1), ("letter", 0)):
        with gzip.open(os.path.join(testdata, name + ".csv.gz"), "rt") as f:
            cells = np.array([line.strip().split(",") for line in f])
        y = np.unique(cells[:, label], return_inverse=True)[1]
        x = np.delete(cells, label, 1).astype(np.float32)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        with tempfile.TemporaryDirectory() as folder:
            np.save(folder + "/x.npy", x)
            np.save(folder + "/y.npy", y)
            for l2 in (1e-2, 1e-3, 1e-4, 1e-5):
                w, steps = by_uma_gpu(uma, folder, l2)
                theirs = LogisticRegression(C=1 / (l2 * len(y)), fit_intercept=False, tol=1e-9, max_iter=20000)
                theirs.fit(x.astype(np.float64), y)
                ours, best = (loss(v, x.astype(np.float64), y, l2) for v in (w, theirs.coef_))
                rows.append({"data": name, "n": len(y), "d": x.shape[1], "q": len(w), "l2": l2, "uma_gpu": ours,
                             "sklearn": best, "relative": ours / best - 1, "steps": steps, "iterations": int(theirs.n_iter_[0])})
    print(json.dumps({"version": sklearn.__version__, "rows": rows}))
    return int(any(r["relative"] > 1e-6 for r in rows))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
