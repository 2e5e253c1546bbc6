"""A model that Python fits has the bytes of the one that the command line writes."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from umagpu import NoisyClassifier, run

LEARNERS = ["softmax", "uma", "classmean", "perceptron", "pa1"]
CASES = list(itertools.product(LEARNERS, [None, "rbf"], ["float32", "uint8", "sparse"]))


@pytest.mark.parametrize("learner,kernel,form", CASES)
def test_same_bytes(noisy, shell, tmp_path, learner, kernel, form):
    X, y, true, C = noisy
    X, y = X[:200], y[:200]
    if form == "sparse":
        X = sparse.csr_matrix(X)
        sparse.save_npz(tmp_path / "x.npz", X)
    else:
        X = X.astype(form)
        np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "C.npy", C)
    flags = ["--learner", learner, "--confusion", tmp_path / "C.npy"]
    if kernel:
        flags += ["--kernel", kernel]
    x = tmp_path / ("x.npz" if form == "sparse" else "x.npy")
    done = shell("train", "--data", x, "--labels", tmp_path / "y.npy", *flags, "--model",
                 tmp_path / "m.npz")
    assert done.returncode == 0, done.stderr
    model = NoisyClassifier(learner, kernel=kernel, confusion=C)
    model.fit(X, y)
    assert model.model_ == (tmp_path / "m.npz").read_bytes()

    # there and back
    done = shell("predict", "--model", tmp_path / "m.npz", "--data", x, "--no-labels")
    assert done.stdout.split() == [str(k) for k in model.predict(X)]
    same = NoisyClassifier.load(tmp_path / "m.npz")
    assert np.array_equal(same.predict(X), model.predict(X))
    model.save(tmp_path / "again.npz")
    assert "classes" in run("inspect", "--model", str(tmp_path / "again.npz"))


def frame_of(n):
    pandas = pytest.importorskip("pandas")
    random = np.random.RandomState(0)
    y = np.arange(n) % 3
    frame = pandas.DataFrame({
        "number": np.round(random.randn(n) + y, 3), "far": 1.6e12 + random.randint(10**9, size=n) + 2e9 * y,
        "word": random.choice(["red", "blue", "green"], n), "truth": random.rand(n) > .5,
        "title": [" ".join(random.choice(["sun", "rain", "snow", "wind"], 3)) for _ in y]})
    frame.loc[3, "number"] = None
    frame.loc[5, "word"] = None
    return frame, np.array(["x", "y", "z"])[y]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("form", ["table", "text", "numbers", "annotators", "functions", "soft"])
def test_same_bytes_of_tables(shell, tmp_path, learner, form):
    frame, y = frame_of(240)
    if form != "text":
        frame = frame.drop(columns="title")
    random, given, flags, settings = np.random.RandomState(1), {"y": y}, [], {}
    if form in ("numbers", "annotators", "functions", "soft"):
        frame = frame[["number"]].fillna(0).assign(other=np.round(random.randn(len(y)), 2))
    if form == "text":
        settings, flags = {"text": ["title"]}, ["--text", "title"]
    if form in ("annotators", "functions"):
        votes = np.where(random.rand(len(y), 4) < .8, y[:, None], random.choice(list("xyz"), (len(y), 4)))
        votes = np.where(random.rand(len(y), 4) < .2, None, votes)
        given = {"annotations" if form == "annotators" else form: votes}
        header = "row,0,1,2,3" if form == "annotators" else "0,1,2,3"
        rows = [",".join([str(i + 1)][:form == "annotators"] + [v or "" for v in row])
                for i, row in enumerate(votes)]
        (tmp_path / "v.csv").write_text("\n".join([header, *rows]) + "\n")
        flags = [f"--{form}", tmp_path / "v.csv", "--no-labels"]
    if form == "soft":
        soft = (.7 * (y[:, None] == np.array(list("xyz"))) + .1).astype(np.float32)
        pandas = pytest.importorskip("pandas")
        given = {"probabilities": pandas.DataFrame(soft, columns=list("xyz"))}
        given["probabilities"].to_csv(tmp_path / "p.csv", index=False)
        flags = ["--label-probabilities", tmp_path / "p.csv", "--no-labels"]
    (frame.assign(label=y) if "y" in given else frame).to_csv(tmp_path / "d.csv", index=False)
    done = shell("train", "--data", tmp_path / "d.csv", "--learner", learner, *flags, "--model",
                 tmp_path / "m.npz")
    if done.returncode:  # such as learners that take no annotators
        with pytest.raises(ValueError):
            NoisyClassifier(learner, **settings).fit(frame, **given)
        return
    model = NoisyClassifier(learner, **settings).fit(frame, **given)
    assert model.model_ == (tmp_path / "m.npz").read_bytes()
