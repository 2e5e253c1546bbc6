#!/usr/bin/python3
"""Writes what online.py reads: prepare.py SOURCE DIR

SOURCE holds the files of Fashion-MNIST. DIR gets, prepared as `uma-gpu train`
prepares dense data (standardize,bias,l2):
  x.npy              training examples, float32, n x 785
  y.npy              their right labels, int32
"""
import gzip
import os
import sys

import numpy as np


def idx(path):
    """Reads an IDX file of bytes."""
    with gzip.open(path) as f:
        raw = f.read()
    dims = raw[3]
    shape = np.frombuffer(raw, ">i4", dims, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * dims).reshape(shape[0], -1)


def svm(path, x, y):
    """Writes LIBSVM text; every value a pixel can have is formatted once."""
    text = [f"{v / 255:.4g}" for v in range(256)]
    with open(path, "w") as f:
        for row, label in zip(x, y):
            at = np.flatnonzero(row)
            f.write(f"{label} " + " ".join([f"{j + 1}:{text[v]}" for j, v in zip(at.tolist(), row[at].tolist())]) + "\n")


def main(source, out):
    os.makedirs(out, exist_ok=True)
    part = lambda name: idx(os.path.join(source, name + "-ubyte.gz"))
    raw, y = part("train-images-idx3"), part("train-labels-idx1").ravel().astype(np.int32)
    sd = raw.std(0, dtype=np.float64)
    sd[sd == 0] = 1
    x = np.ones((len(raw), raw.shape[1] + 1), np.float32)
    x[:, :-1] = (raw - raw.mean(0, dtype=np.float64)) / sd
    x /= np.sqrt((x.astype(np.float64) ** 2).sum(1, keepdims=True))
    for name, value in [("x", x), ("y", y)]:
        np.save(os.path.join(out, name + ".npy"), value)


if __name__ == "__main__":
    main(*sys.argv[1:])
