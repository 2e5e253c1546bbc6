"""Sets with labels that are wrong by a known C, as files that uma-gpu reads: those of estimates.py and learners.py."""
import csv
import gzip
import json
import os
import resource
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/peers")
import sets as peers  # noqa: E402

NOISES = ["pairwise", "symmetric", "random"]
CHECKED = 100  # examples whose right label is known to some
MOST = 5000  # training examples
SETS = ["iris", "wine", "cancer", "vehicle", "banana", "strokes", "drybean", "digits", "optdigits", "letter"]
OWN = ["music_genre", "agnews", "cifar10n"]  # whose labels people gave

def strokes(rng, n=4000, q=10):
    """Pen strokes of q figures, eight points each, that several hands draw in two ways."""
    ways = np.cumsum(rng.normal(size=(q, 2, 8, 2)), 2)
    y, way = rng.integers(q, size=n), rng.integers(2, size=n)
    turn = rng.normal(scale=.25, size=n)
    turned = np.stack([np.cos(turn), -np.sin(turn), np.sin(turn), np.cos(turn)], 1).reshape(n, 2, 2)
    x = np.einsum("nij,npj->npi", turned, ways[y, way] + rng.normal(scale=.35, size=(n, 8, 2)))
    x -= x.min(1, keepdims=True)
    return (100 * x / x.max((1, 2), keepdims=True)).round().reshape(n, 16), y


def table(path, header=1, label=-1):
    rows = [r for r in csv.reader(gzip.open(path, "rt")) if r][header:]
    y = np.unique([r[label] for r in rows], return_inverse=True)[1]
    return np.array([r[:-1] if label == -1 else r[1:] for r in rows], np.float32), y


def read(name, data):
    """Returns features and right labels of examples to learn from and to judge by."""
    rng = np.random.default_rng(1)
    small = data + "/small/"
    if name in ("optdigits", "letter", "banana"):
        x, y, xt, yt = getattr(peers, name)(f"{data}/{name}")
        x, y = np.concatenate([x, xt]), np.concatenate([y, yt])
    else:
        x, y = {"iris": lambda: table(small + "sklearn_iris.csv.gz"), "wine": lambda: table(small + "sklearn_wine_data.csv.gz"),
                "cancer": lambda: table(small + "sklearn_breast_cancer.csv.gz"), "vehicle": lambda: table(small + "vehicle.csv.gz"),
                "drybean": lambda: table(data + "/aqua/dry-bean.csv.gz"), "strokes": lambda: strokes(rng),
                "digits": lambda: table(HERE + "/../testdata/digits.csv.gz", 0)}[name]()
    order, y = rng.permutation(len(x)), np.unique(y, return_inverse=True)[1]
    x, y = x[order].astype(np.float32), y[order]
    cut = min(MOST, len(x) * 2 // 3)
    return x[:cut], y[:cut], x[cut:], y[cut:]


def matrix(noise, q, rng):
    """Returns C, a column for each true class; random noise takes 15 to 45 % of a class."""
    if noise != "random":
        return peers.confusion(noise, None, q, None)
    c = np.zeros((q, q))
    for t in range(q):
        wrong = .15 + .3 * rng.random()
        c[:, t] = np.insert(rng.dirichlet(np.ones(q - 1) / 2) * wrong, t, 1 - wrong)
    return c


class Case:
    """A set under a noise, as files in a folder."""

    def __init__(self, program, folder, name, noise, data):
        self.program, self.folder = os.path.abspath(program), folder
        if name in OWN:
            to, noise = peers.prepare(name, None, data, folder), "none" if noise == "none" else "own"
            text = name in peers.TEXTS
            self.train = ["--data", f"{to}/x.{noise}.svm"] if text else ["--data", to + "/x.npy", "--labels", f"{to}/y.{noise}.npy"]
            self.test = ["--data", to + "/xt.svm"] if text else ["--data", to + "/xt.npy", "--labels", to + "/yt.npy"]
            self.true = f"{to}/C.{noise}.csv"
            return
        x, self.y, xt, yt = read(name, data)
        self.q, rng = int(max(self.y)) + 1, np.random.default_rng(7)
        self.c = np.eye(self.q) if noise == "none" else matrix(noise, self.q, rng)
        noisy = (rng.random(len(x)) > self.c.cumsum(0)[:, self.y]).sum(0).clip(0, self.q - 1)
        np.savez(folder + "/noisy.npz", X=x, y=noisy)
        np.savez(folder + "/test.npz", X=xt, y=yt)
        self.train, self.test, self.true = ["--data", "noisy.npz"], ["--data", "test.npz"], "true.csv"
        with open(folder + "/checked.csv", "w") as f:
            some = np.linspace(0, len(x) - 1, CHECKED).astype(int)
            f.writelines(["row,label\n"] + [f"{i + 1},{self.y[i]}\n" for i in some])
        with open(folder + "/true.csv", "w") as f:
            f.writelines([",".join(["noisy\\true", *map(str, range(self.q))]) + "\n"] +
                         [",".join([str(p), *map(repr, map(float, row))]) + "\n" for p, row in enumerate(self.c)])

    def call(self, *words):
        """Returns what a command prints as JSON; None if it fails."""
        r = subprocess.run([self.program, *words, "--quiet", "--json", "--device", "cpu"], cwd=self.folder, capture_output=True, text=True)
        if r.returncode:
            print(" ".join(words), r.stderr, file=sys.stderr)
            return None
        return json.loads(r.stdout)

    def examples(self):
        """Returns dense features, noisy labels and right ones."""
        to = os.path.dirname(self.true)
        if to:
            return np.load(to + "/x.npy"), np.load(to + "/y.own.npy"), np.load(to + "/y.none.npy")
        noisy = np.load(self.folder + "/noisy.npz")
        return noisy["X"], noisy["y"], self.y

    def error(self, *flags):
        """Returns the test error of a training and its processor seconds; None if nothing is learned."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if self.call("train", *self.train, "--model", "m.npz", *flags) is None:
            return None, 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return self.call("eval", "--model", "m.npz", *self.test)["error_rate"], seconds


def known(path):
    """Returns the results in a file of JSON lines, which need not be there."""
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []
