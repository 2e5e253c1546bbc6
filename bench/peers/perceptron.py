"""Prints three errors of scikit-learn's Perceptron; see perceptron.sh.

usage: perceptron.py TRAIN NOISY TEST

TRAIN, NOISY and TEST are LIBSVM files; NOISY is TRAIN with other labels. Rows
are scaled to length 1, as uma-gpu does with sparse data. Printed are, on one
line, the error on TEST after training on TRAIN, the same after training on NOISY,
and the error on NOISY's own labels.
"""
import sys

from sklearn.datasets import load_svmlight_files
from sklearn.linear_model import Perceptron
from sklearn.preprocessing import normalize


def main(*files):
    x, y, noisy_x, noisy_y, test_x, test_y = load_svmlight_files(files)
    if (x != noisy_x).nnz > 0:
        sys.exit("perceptron.py: TRAIN and NOISY have different features, wanted the same with other labels")
    x, test_x = normalize(x), normalize(test_x)
    clean = Perceptron(random_state=1).fit(x, y)
    noisy = Perceptron(random_state=1).fit(x, noisy_y)
    errors = 1 - clean.score(test_x, test_y), 1 - noisy.score(test_x, test_y), 1 - noisy.score(x, noisy_y)
    print(*(f"{e:.4f}" for e in errors))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: perceptron.py TRAIN NOISY TEST")
    main(*sys.argv[1:])
