#!/usr/bin/python3
"""Objective and time of learner svm beside LIBLINEAR: svm.py UMA-GPU DATA [SET...]

DATA holds 20news/20news.train.svm.gz, learned from at cost 1, and mnist/train-images-idx3-ubyte.gz with its labels,
whose pixels are divided by 255, at cost 0.01; neither is prepared further. Both programs have one processor and
the same tolerance, and so do no less than each other. Seconds are those of the processor, less those of a run that
ends at once: LIBLINEAR's by -s 11, the regression of one machine, after its first look, uma-gpu's before its first step.
The least of three runs (RUNS). Prints a line of Markdown for each. Wants Debian's liblinear-tools.
"""
import gzip
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import scipy.sparse
from prepare import idx, svm

SOLVERS = [
    ("ovr, squared", 1, ["--loss", "squared"]),
    ("ovr, hinge", 3, ["--loss", "hinge"]),
]
RUNS = int(os.environ.get("RUNS", "3"))
COSTS = {"20news": "1", "mnist": "0.01"}


def read(path):
    """Reads LIBSVM text."""
    y, starts, columns, values = [], [0], [], []
    with open(path) as f:
        for line in f:
            label, *pairs = line.split()
            y.append(int(label))
            for pair in pairs:
                j, v = pair.split(":")
                columns.append(int(j) - 1)
                values.append(np.float32(v))
            starts.append(len(columns))
    return scipy.sparse.csr_matrix((np.array(values, np.float64), columns, starts)), np.array(y)


def run(*command):
    """Runs a command on one processor; returns what it printed and the seconds it took of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, env={**os.environ, "GOMAXPROCS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def objective(x, y, w, solver, cost):
    scores = x @ w.T
    sign = -np.ones_like(scores)
    sign[np.arange(len(y)), y] = 1
    xi = np.maximum(0, 1 - sign * scores)
    missed = (xi**2 if solver == 1 else xi).sum()
    return (w**2).sum() / 2 + cost * missed


def liblinear(data, folder, solver, cost, tolerance):
    model = os.path.join(folder, "liblinear.model")
    _, seconds = run("liblinear-train", "-q", "-s", str(solver), "-c", cost, "-e", str(tolerance), data, model)
    with open(model) as f:
        lines = f.read().split("\n")
    labels = [int(k) for l in lines if l.startswith("label") for k in l.split()[1:]]
    w = np.loadtxt(lines[lines.index("w") + 1:], ndmin=2).T
    return w[np.argsort(labels)] if labels else w, seconds


def own(program, data, folder, flags, cost, tolerance, *more):
    model = os.path.join(folder, "own.npz")
    _, seconds = run(program, "train", "--data", data, "--format", "libsvm", "--learner", "svm", *flags, "--cost", cost, *more,
                     "--tolerance", str(tolerance), "--normalize", "none", "--device", "cpu", "--model", model, "--quiet")
    return np.load(model)["W"].astype(np.float64), seconds


def write(name, source, folder):
    """Writes a set as LIBSVM text to the folder, and returns the file."""
    data = os.path.join(folder, name)
    if name == "mnist":
        part = lambda of: idx(os.path.join(source, "mnist", of + "-ubyte.gz"))
        svm(data, part("train-images-idx3"), part("train-labels-idx1").ravel())
    else:
        with gzip.open(os.path.join(source, "20news/20news.train.svm.gz")) as f, open(data, "wb") as to:
            shutil.copyfileobj(f, to)
    return data


def main(program, source, *names):
    with tempfile.TemporaryDirectory() as folder:
        for name in names or COSTS:
            data, cost = write(name, source, folder), COSTS[name]
            x, y = read(data)
            for what, solver, flags in SOLVERS:
                reading = min(liblinear(data, folder, 11, cost, 1e30)[1] for _ in range(RUNS))
                ready = min(own(program, data, folder, flags, cost, 1, "--max-steps", "0")[1] for _ in range(RUNS))
                for tolerance in 0.1, 0.01:
                    theirs, ours = [], []
                    for _ in range(RUNS):
                        w, seconds = liblinear(data, folder, solver, cost, tolerance)
                        theirs.append((seconds - reading, objective(x, y, w, solver, float(cost))))
                        w, seconds = own(program, data, folder, flags, cost, tolerance)
                        w = np.pad(w, ((0, 0), (0, x.shape[1] - w.shape[1])))
                        ours.append((seconds - ready, objective(x, y, w, solver, float(cost))))
                    (a, their), (b, our) = min(theirs), min(ours)
                    print(f"| {name} | {what} | {tolerance} | {their:.3f} | {our:.3f} | {(our - their) / their:+.1e} | "
                          f"{a:.2f} | {b:.2f} | {b / a:.2f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
