#!/usr/bin/python3
"""Online learners beside scikit-learn's: online.py UMA_GPU DATA [PASSES]

DATA is a folder with x.npy and y.npy as prepare.py writes them, or a LIBSVM file, whose rows both
programs scale to length 1. One core is used, the last that there is. Prints one JSON object.

All seconds are of processor time. A pass takes that of PASSES (10) passes less that of one, by PASSES - 1: of
uma-gpu with the counting of predictions after it. The share of the fma peak (peak.c, one thread) is that of
the scores alone.
"""
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


def seconds(*args):
    """Processor time of a command."""
    before = os.times()
    output(*args)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])  # of children


def pass_of(run, passes):
    """Seconds of a pass of what run does, which takes the number of passes and returns seconds."""
    return (run(passes) - run(1)) / (passes - 1)


def main(uma, data, passes="10"):
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
            def ours(n):
                return seconds(uma, "train", "--quiet", "--device", "cpu", "--epochs", str(n), *words.split(), *how.split(), *flags,
                               "--model", folder + "/m.npz")

            def theirs(n):
                learner = getattr(linear_model, peer)(max_iter=n, tol=None, random_state=1, fit_intercept=False, **options)
                start = time.process_time()
                learner.fit(x, y)
                return time.process_time() - start

            rate, other = 1 / pass_of(ours, int(passes)), None
            if peer:
                other = 1 / pass_of(theirs, int(passes))
            rows.append({"learner": name, "passes_per_s": rate, "sklearn_passes_per_s": other, "fma_share": 2 * terms * rate / peak})
        return {"gflop_per_s": peak / 1e9, "rows": rows}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
