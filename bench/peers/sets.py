"""The eleven sets of bench-peers, written once as files that uma-gpu and its rivals read.

A set is a folder: xt.npy and yt.npy, or xt.svm, are its test examples with right labels. Its training examples are x.npy
with y.NOISE.npy, or x.NOISE.svm; C.NOISE.csv is the confusion matrix. Classes are 0 to Q-1, features float32.
"""
import csv
import gzip
import os
import shutil

import numpy as np
from prepare import idx

SHARE = 0.4  # of labels that made noise turns wrong
TEXTS = {"20news": "20news/20news.", "reuters9": "reuters21578/reuters9.", "reuters52": "reuters21578/reuters52.", "agnews": "noisy_ag_news/"}
# From quick to slow; with the noises measured. Pairwise and symmetric noise of two classes are the same.
SETS = {"music_genre": ("own", "none"), "banana": ("symmetric", "none")}
SETS |= {name: ("pairwise", "symmetric", "none") for name in ("optdigits", "reuters9", "reuters52", "letter", "20news")}
SETS |= {"agnews": ("own", "none"), "cifar10n": ("own", "none")}
SETS |= {name: ("pairwise", "symmetric", "none") for name in ("fashion", "mnist")}


def rows(path, header=1):
    """Returns the lines of a CSV but for its header, cut at commas."""
    with gzip.open(path, "rt") as f:
        return [line for line in csv.reader(f) if line and line[0][0] != "@"][header:]


def numbers(table):
    return np.array(table, dtype=np.float32)


def images(folder, name="train-images-idx3-ubyte", labels="train-labels-idx1-ubyte"):
    part = lambda of: idx(os.path.join(folder, of + ".gz"))
    return part(name), part(labels).ravel()


def mnist(folder):
    return *images(folder), *images(folder, "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def letter(folder):
    """The usual cut: the first 16,000 train."""
    table = rows(folder + "/letter-recognition.data.gz", 0)
    x, y = numbers([r[1:] for r in table]), [r[0] for r in table]
    return x[:16000], y[:16000], x[16000:], y[16000:]


def optdigits(folder):
    parts = [numbers(rows(f"{folder}/optdigits.{part}.gz", 0)) for part in ("tra", "tes")]
    return [v for p in parts for v in (p[:, :-1], p[:, -1])]


def banana(folder):
    """A quarter, drawn at random, tests."""
    table = np.random.default_rng(1).permutation(numbers(rows(folder + "/banana.dat.gz", 0)))
    n = len(table) * 3 // 4
    return table[:n, :2], table[:n, 2], table[n:, :2], table[n:, 2]


def cifar10n(folder):
    """Labels and features of people's CIFAR-10; the noise is the worse of three labels."""
    labels = np.array(rows(folder + "/train-labels.csv.gz"), int)
    x, xt = (idx(f"{folder}/{part}-feat-idx2-byte.gz").view(np.int8) for part in ("train", "test"))
    return x, labels[:, 0], xt, idx(folder + "/test-labels-idx1-ubyte.gz").ravel(), labels[:, 5]


def music_genre(folder):
    """The noise is the vote of all who labelled a song, the first name of equal ones."""
    gold, test = rows(folder + "/music_genre_gold.csv.gz"), rows(folder + "/music_genre_test.csv.gz")
    votes = {}
    for r in rows(folder + "/music_genre_mturk.csv.gz"):
        votes.setdefault(r[0], []).append(r[-1])
    voted = [max(sorted(set(votes[r[0]])), key=votes[r[0]].count) for r in gold]
    split = lambda table: (numbers([r[1:-1] for r in table]), [r[-1] for r in table])
    return *split(gold), *split(test), voted


def confusion(noise, y, q, noisy):
    """Returns C, a column for each true class; of own noise, from the right labels."""
    if noise == "own":
        counts = np.zeros((q, q))
        np.add.at(counts, (noisy, y), 1)
        return counts / counts.sum(0)
    if noise == "pairwise":
        return np.eye(q) * (1 - SHARE) + np.eye(q)[np.roll(np.arange(q), 1)] * SHARE
    return np.eye(q) * (1 - SHARE) + (1 - np.eye(q)) * SHARE / (q - 1)


def prepare(name, fashion, data, folder):
    """Writes a set, if it is not there, and returns its folder."""
    to = os.path.join(folder, name)
    if os.path.exists(to):
        return to
    own = None
    if name in TEXTS:
        read = lambda part: gzip.open(f"{data}/{TEXTS[name]}{part}.svm.gz", "rt").read().splitlines()
        train, test = ([line.partition(" ") for line in read(part)] for part in ("train", "test"))
        y, yt = ([r[0] for r in part] for part in (train, test))
        if name == "agnews":
            own = [r[1] for r in rows(f"{data}/noisy_ag_news/labels.csv.gz")]
    else:
        source = fashion if name == "fashion" else os.path.join(data, name)
        x, y, xt, yt, *more = {**globals(), "fashion": mnist}[name](source)
        own = more[0] if more else None
    names = sorted(set(y), key=lambda v: (float(v), v) if not str(v).isalpha() else (0, v))
    y, yt, own = (labels if labels is None else np.array([names.index(v) for v in labels], np.int32) for labels in (y, yt, own))
    new = to + ".new"
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    if name in TEXTS:
        svm(f"{new}/xt.svm", test, yt)
    else:
        for part, value in (("x", x.astype(np.float32)), ("xt", xt.astype(np.float32)), ("yt", yt)):
            np.save(f"{new}/{part}.npy", value)
    for noise in SETS[name]:
        noisy, rng = y, np.random.default_rng(1)
        if noise != "none":
            c = confusion(noise, y, len(names), own)
            noisy = own if noise == "own" else (rng.random(len(y)) > c.cumsum(0)[:, y]).sum(0).clip(0, len(names) - 1).astype(np.int32)
            head = ",".join(["noisy\\true", *map(str, range(len(names)))])
            with open(f"{new}/C.{noise}.csv", "w") as f:
                f.writelines([head + "\n"] + [",".join([str(p), *map(repr, row)]) + "\n" for p, row in enumerate(c.tolist())])
        if name in TEXTS:
            svm(f"{new}/x.{noise}.svm", train, noisy)
        else:
            np.save(f"{new}/y.{noise}.npy", noisy)
    os.rename(new, to)
    return to


def svm(path, lines, labels):
    with open(path, "w") as f:
        f.writelines(f"{label} {rest}\n" for label, (_, _, rest) in zip(labels, lines))
