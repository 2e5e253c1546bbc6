"""Writes the training examples of MNIST four times, shifted by 0 to 3 places: 240,000 x 784, for trainings on several ranks.

    python3 bench/mnist4.py FOLDER m4.npz    # FOLDER has train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz
    uma-gpu convert --data m4.npz --out m4.npz
"""

import gzip
import sys

import numpy as np


def idx(path, header):
    with gzip.open(path) as f:
        return np.frombuffer(f.read()[header:], np.uint8)


folder, out = sys.argv[1:]
x = idx(folder + "/train-images-idx3-ubyte.gz", 16).reshape(-1, 784)
y = idx(folder + "/train-labels-idx1-ubyte.gz", 8).astype(np.int64)
np.savez(out, X=np.concatenate([np.roll(x, k, axis=1) for k in range(4)]).astype(np.float32), y=np.tile(y, 4))
