"""A model that Python fits has the bytes of the one that the command line writes."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from umagpu import NoisyClassifier, run

LEARNERS = ["softmax", "uma", "classmean", "perceptron", "svm"]
CASES = list(itertools.product(LEARNERS, [None, "rbf"], ["float32", "uint8", "sparse"]))


@pytest.mark.parametrize("learner,kernel,form", CASES)
def test_same_bytes(noisy, shell, tmp_path, learner, kernel, form):
    X, y, true, C = noisy
    X, y = X[:200], (true if learner == "svm" else y)[:200]
    if form == "sparse":
        X = sparse.csr_matrix(X)
        sparse.save_npz(tmp_path / "x.npz", X)
    else:
        X = X.astype(form)
        np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    flags = ["--learner", learner]
    if learner != "svm":
        np.save(tmp_path / "C.npy", C)
        flags += ["--confusion", tmp_path / "C.npy"]
    if kernel:
        flags += ["--kernel", kernel]
    x = tmp_path / ("x.npz" if form == "sparse" else "x.npy")
    done = shell("train", "--data", x, "--labels", tmp_path / "y.npy", *flags, "--model",
                 tmp_path / "m.npz")
    assert done.returncode == 0, done.stderr
    model = NoisyClassifier(learner, kernel=kernel, confusion=None if learner == "svm" else C)
    model.fit(X, y)
    assert model.model_ == (tmp_path / "m.npz").read_bytes()

    # there and back
    done = shell("predict", "--model", tmp_path / "m.npz", "--data", x, "--no-labels")
    assert done.stdout.split() == [str(k) for k in model.predict(X)]
    same = NoisyClassifier.load(tmp_path / "m.npz")
    assert np.array_equal(same.predict(X), model.predict(X))
    model.save(tmp_path / "again.npz")
    assert "classes" in run("inspect", "--model", str(tmp_path / "again.npz"))
