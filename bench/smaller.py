#!/usr/bin/python3
"""How few landmarks do for the kernel mean: smaller.py UMA_GPU DATA [SET...]

The mean of all of 15,000 examples of letter and Fashion-MNIST (sets letter and fashion; DATA holds letter/ and
fashion-mnist/), labels right and with NOISE (0.4) of them moved to the next class, C known; and models of few landmarks in
its place: herded atoms with weights of the choice and with optimal ones, `compress` of the mean, and softmax that learned
with as many landmarks from the classes that the mean gives its own training examples, whatever these were labelled, folded by
`compress`. Prints for each its test error on right labels and the seconds of a prediction of the test examples, 5000 and 10,000,
the least of three, by `compress --json`, which leaves out reading. Wants numpy.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

NOISE = os.environ.get("NOISE", "0.4")
# γ of the mean is SHARPER times 1 / the median squared distance; landmarks
SETS = {"letter": (32, (750,)), "fashion": (16, (500,))}


def run(*args):
    device = [] if args[0] == "confusion" else ["--device", "cpu"]
    done = subprocess.run([PROGRAM, *map(str, args), *device, "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, args))}: {done.stderr}")
    return done.stdout


def images(folder, name):
    with gzip.open(f"{folder}/fashion-mnist/{name}-images-idx3-ubyte.gz") as f:
        x = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(f"{folder}/fashion-mnist/{name}-labels-idx1-ubyte.gz") as f:
        return x.astype(np.float32), np.frombuffer(f.read(), np.uint8, offset=8).astype(np.int64)


def read(folder, name):
    """Examples and labels to train and to test on."""
    if name == "fashion":
        x, y = images(folder, "train")
        return x[:15000], y[:15000], *images(folder, "t10k")
    with gzip.open(f"{folder}/letter/letter-recognition.data.gz", "rt") as f:
        rows = [line.strip().split(",") for line in f]
    x = np.array([row[1:] for row in rows], np.float32)
    y = np.array([ord(row[0]) - ord("A") for row in rows])
    return x[:15000], y[:15000], x[15000:], y[15000:]


def judge(what, model):
    """Prints the error of a model, and the seconds that it takes to predict."""
    error = json.loads(run("eval", "--model", model, "--data", "test.npz", "--json"))["error_rate"]
    report = [json.loads(run("compress", "--model", model, "--atoms", "all", "--out", "same.npz", "--data", "test.npz", "--json"))
              for _ in range(3)]
    seconds = min(r["seconds"][1] for r in report)
    print(f"| {what} | {report[0]['landmarks'][0]} | {error:.4f} | {seconds:.3f} |", flush=True)
    return seconds


def measure(name, sharper, landmarks, noisy):
    labels = ["--labels", "noisy.npy", "--confusion", "C.csv"] if noisy else ["--labels", "y.npy"]
    train = ["train", "--data", "x.npy", *labels, "--kernel", "rbf"]
    mean = train + ["--learner", "kernelmean"]
    run(*mean, "--gamma", "median", "--atoms", "100", "--model", "rough.npz")
    with zipfile.ZipFile("rough.npz") as model:
        gamma = sharper * json.loads(model.read("meta.json"))["kernel"]["function"]["gamma"]
    mean += ["--gamma", repr(gamma)]
    run(*mean, "--model", "full.npz")
    print(f"\n| {name}, {'labels moved: ' + NOISE if noisy else 'labels right'} | landmarks | test error | seconds |\n|---|--:|--:|--:|")
    judge("mean of all", "full.npz")
    run("predict", "--model", "full.npz", "--data", "x.npy", "--no-labels", "--out", "given.txt")
    for k in landmarks:
        for weights in "own", "optimal":
            run(*mean, "--atoms", k, "--atom-choice", "herding", "--atom-weights", weights, "--model", "few.npz")
            judge(f"herding, {weights}", "few.npz")
        run("compress", "--model", "full.npz", "--atoms", k, "--out", "few.npz")
        judge("compress", "few.npz")
        run("train", "--data", "x.npy", "--labels", "given.txt", "--kernel", "rbf", "--gamma", "median", "--landmarks", k,
            "--learner", "softmax", "--model", "learned.npz")
        run("compress", "--model", "learned.npz", "--atoms", "all", "--out", "few.npz")
        judge("softmax on the mean's classes", "few.npz")


def main(folder, *names):
    for name in names or SETS:
        x, y, xt, yt = read(folder, name)
        np.save("x.npy", x)
        np.save("y.npy", y)
        np.savez("train.npz", X=x, y=y)
        np.savez("test.npz", X=xt, y=yt)
        run("confusion", "inject", "--data", "train.npz", "--pairwise", NOISE, "--seed", "1", "--out", "noisy.npz",
            "--write-confusion", "C.csv")
        np.save("noisy.npy", np.load("noisy.npz")["y"])
        for noisy in False, True:
            measure(name, *SETS[name], noisy)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    PROGRAM, DATA = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        main(DATA, *sys.argv[3:])
        os.chdir("/")
