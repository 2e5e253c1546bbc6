#!/usr/bin/python3
"""scikit-learn's SVC beside the kernel mean under symmetric noise: svc_noise.py ROWS DIR [GAMMA]

ROWS is what `build/papers kernel-mean-noise --sets S --out ROWS` wrote, one set; DIR is its --data-dir. For each
level and run an SVC (rbf, C = 1) learns from the same examples, prepared alike (maxabs), with noise of the same rate
from other random numbers. GAMMA is scale, scikit-learn's own, if left out; or mean, what the kernel mean has found.
Prints JSON lines of the same form, to be put behind those of ROWS.
"""
import gzip
import json
import sys

import numpy as np
from sklearn.svm import SVC

MOST = 4000  # examples to train on, as the experiment has


def table(path, label):
    """Reads a CSV of numbers, whose labels are in one column."""
    with gzip.open(path, "rt") as f:
        rows = [line.strip().split(",") for line in f if line.strip()]
    y = np.array([r.pop(label) for r in rows])
    return np.array(rows, np.float32), y


def images(folder, part):
    with gzip.open(f"{folder}/{part}-images-idx3-ubyte.gz") as f:
        x = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32)
    with gzip.open(f"{folder}/{part}-labels-idx1-ubyte.gz") as f:
        return x, np.frombuffer(f.read(), np.uint8, offset=8)


def read(name, folder):
    """Returns the examples to train and to test on, prepared, with right labels as numbers of classes."""
    if name == "digits":
        (x, y), (xt, yt) = (table(f"{folder}/optdigits/optdigits.{part}.gz", -1) for part in ("tra", "tes"))
    elif name == "letter":
        x, y = table(f"{folder}/letter/letter-recognition.data.gz", 0)
        x, y, xt, yt = x[:15000], y[:15000], x[15000:], y[15000:]
    else:
        (x, y), (xt, yt) = (images(f"{folder}/fashion-mnist", part) for part in ("train", "t10k"))
    x, y = x[:MOST], y[:MOST]
    classes, y = np.unique(y, return_inverse=True)
    most = np.abs(x).max(0)
    most[most == 0] = 1
    return x / most, y, xt / most, np.searchsorted(classes, yt), len(classes)


def main(path, folder, choice="scale"):
    if choice not in ("scale", "mean"):
        sys.exit(f"GAMMA is {choice}, wanted scale or mean")
    with open(path) as f:
        rows = [r for r in map(json.loads, f) if r["learner"] == "kernel mean"]
    if len({r["data"] for r in rows}) != 1:
        sys.exit(f"{path}: found {len(rows)} rows of the kernel mean, wanted those of one set")
    x, y, xt, yt, q = read(rows[0]["data"], folder)
    for row in rows:
        errors = []
        for k, gamma in enumerate(row["note"].removeprefix("gamma [").removesuffix("]").split()):
            rng = np.random.default_rng(1 + k)
            wrong = rng.random(len(y)) < 2 * row["x"] * (1 - 1 / q)
            noisy = np.where(wrong, (y + rng.integers(1, q, len(y))) % q, y)
            learner = SVC(gamma=float(gamma) if choice == "mean" else choice).fit(x, noisy)
            errors.append(float((learner.predict(xt) != yt).mean()))
        row |= {"learner": f"svc, gamma {choice}", "runs": errors, "mean": float(np.mean(errors)),
                "standard_error": float(np.std(errors, ddof=1) / len(errors) ** 0.5)}
        if choice == "scale":
            del row["note"]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
