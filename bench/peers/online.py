#!/usr/bin/python3
"""Online learners beside scikit-learn's: online.py UMA_GPU DATA [PASSES [ROWS]]

DATA is a folder with x.npy and y.npy as prepare.py writes them, or a LIBSVM file, whose rows both
programs scale to length 1. One core is used, the last that there is. Prints one JSON object.

Passes per second are those of PASSES (10) passes after reading and preparation: of uma-gpu with what
belongs to a training, such as counting predictions after each pass. The share of the fma peak (peak.c, one
thread) is that of the scores alone.

The grid is one of 100 fits of PA-I: twenty aggressivenesses, each learned in ten passes without each fifth
of the examples in turn, and judged by it. Of a folder the first ROWS (3000) are taken. Seconds are
of processor time: of uma-gpu from its start, with reading and preparation, of GridSearchCV without these.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

PEERS = [  # uma-gpu's flags, scikit-learn's learner
    ("perceptron", "--learner perceptron --multiclass ovr --no-average", "Perceptron", {}),
    ("perceptron, against the best class", "--learner perceptron", None, None),
    ("PA-I", "--learner pa1 --aggressiveness 0.1 --multiclass ovr", "PassiveAggressiveClassifier", {"C": 0.1, "average": True}),
    ("PA-I, against the best class", "--learner pa1 --aggressiveness 0.1", None, None),
    ("COPA", "--learner copa --aggressiveness 0.1", None, None),
]


def load(data):
    """Returns x, y, and uma-gpu's flags for them: which data, and how to prepare these."""
    if os.path.isdir(data):
        import numpy as np

        x, y = f"{data}/x.npy", f"{data}/y.npy"
        return np.load(x).astype(np.float64), np.load(y), ["--data", x, "--labels", y], "--normalize none"
    from sklearn.datasets import load_svmlight_file
    from sklearn.preprocessing import normalize

    x, y = load_svmlight_file(data)
    return normalize(x), y, ["--data", data, "--format", "libsvm"], "--normalize l2"


def output(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def grid(uma, x, y, flags, how, folder):
    """Seconds of a grid of both programs, and the accuracy of the best fit of each."""
    import numpy as np
    from sklearn.linear_model import PassiveAggressiveClassifier
    from sklearn.model_selection import GridSearchCV

    table = folder + "/table.csv"
    start = os.times()
    output(uma, "compare", "--quiet", "--device", "cpu", *flags, "--try", f"--learner pa1 --epochs 10 --multiclass ovr {how}",
           "--grid", "aggressiveness=0.001..1:log20", "--folds", "5", "--out", table)
    seconds = sum(os.times()[2:4]) - sum(start[2:4])  # those of children
    with open(table) as f:
        best = next(csv.DictReader(f))
    learner = PassiveAggressiveClassifier(max_iter=10, tol=None, average=True, fit_intercept=False, random_state=1)
    peer = GridSearchCV(learner, {"C": np.geomspace(0.001, 1, 20)}, cv=5, refit=False)
    start = time.process_time()
    peer.fit(x, y)
    return {"rows": x.shape[0], "seconds": seconds, "sklearn_seconds": time.process_time() - start,
            "accuracy": float(best["accuracy"]), "sklearn_accuracy": peer.best_score_}


def main(uma, data, passes="10", most="3000"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before numpy counts cores
    import numpy as np
    from sklearn import linear_model

    warnings.filterwarnings("ignore")
    x, y, flags, how = load(data)
    classes, rows = len(set(y.tolist())), []
    terms = (x.nnz if hasattr(x, "nnz") else x.size) * classes
    with tempfile.TemporaryDirectory() as folder:
        output("cc", "-O3", "-pthread", "-o", folder + "/peak", os.path.join(os.path.dirname(os.path.abspath(__file__)), "peak.c"))
        peak = 1e9 * float(output(folder + "/peak", "1").split()[0])
        for name, words, peer, options in PEERS:
            r = json.loads(output(uma, "train", "--json", "--quiet", "--device", "cpu", "--epochs", passes, *words.split(), *how.split(), *flags,
                                  "--model", folder + "/m.npz"))
            rate, other = r["steps"] / r["seconds"]["train"], None
            if peer:
                learner = getattr(linear_model, peer)(max_iter=int(passes), tol=None, random_state=1, fit_intercept=False, **options)
                start = time.perf_counter()
                learner.fit(x, y)
                other = int(passes) / (time.perf_counter() - start)
            rows.append({"learner": name, "passes_per_s": rate, "sklearn_passes_per_s": other, "fma_share": 2 * terms * rate / peak})
        if os.path.isdir(data):
            x, y = x[: int(most)], y[: int(most)]
            np.save(folder + "/x.npy", x.astype(np.float32))
            np.save(folder + "/y.npy", y)
            flags = ["--data", folder + "/x.npy", "--labels", folder + "/y.npy"]
        return {"gflop_per_s": peak / 1e9, "rows": rows, "grid": grid(uma, x, y, flags, how, folder)}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
