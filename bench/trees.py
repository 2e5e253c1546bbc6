#!/usr/bin/python3
"""Trees, linear and curved models of uma-gpu beside scikit-learn's and xgboost's trees, where the confusion matrix is known.

usage: trees.py --speed
       trees.py DATA FOLDER [--sets a,b] [--noises a,b] [--draws 5] [--rows 1500] [--ours trees,auto,softmax,curved]

Each draw trains on at most ROWS rows, tests on at least 1500 other rows where the table has them, and corrupts the training labels.
FOLDER/trees.jsonl gets one line for each draw; a draw that has a line is not measured again. The script prints the mean test errors in
percent. --speed measures the seconds of fits with given parameters, and of predictions, on two processors.
"""
import argparse
import collections
import json
import os
import sys
import time

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[threads] = "2" if "--speed" in sys.argv else "1"

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.preprocessing import OrdinalEncoder

try:  # Debian's python3-xgboost
    from xgboost import XGBClassifier
except ImportError:
    XGBClassifier = None

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("UMA_GPU", HERE + "/../build/uma-gpu")
sys.path[:0] = [HERE + "/peers", HERE + "/../python/src"]
import clean as tables  # noqa: E402
import umagpu  # noqa: E402

SETS = "adult,car,compas,drybean,letter,optdigits,vehicle,cancer," + ",".join(tables.PLAIN)
NOISES = ("none", "pairwise20", "pairwise40", "symmetric20", "symmetric40", "random30", "oneway40", "feature30")


def load(name, data, found):
    """Returns a DataFrame of features, and codes of the classes."""
    names, rows = tables.table(name, data, found)
    frame = pd.DataFrame([r[:-1] for r in rows], columns=names[:-1]).replace("", None)
    y = pd.Series([r[-1] for r in rows])
    for c in frame:
        frame[c] = pd.to_numeric(frame[c], errors="ignore")
    frame.columns = [str(c) for c in frame.columns]
    for c in frame:
        if frame[c].dtype == object:
            frame[c] = frame[c].astype("category")
    keep = y.map(y.value_counts()) >= 10
    return frame[keep].reset_index(drop=True), np.unique(y[keep].astype(str), return_inverse=True)[1]


def matrix(noise, q, rng):
    """C[p][q] = P(noisy = p | true = q)."""
    rate = int(noise[-2:]) / 100 if noise[-1].isdigit() else 0
    c = np.eye(q)
    if noise.startswith("symmetric"):
        rate = min(rate, .8 * (1 - 1 / q))
        c = (1 - rate) * np.eye(q) + rate / (q - 1) * (1 - np.eye(q))
    elif noise.startswith("pairwise"):
        rate = min(rate, .35) if q == 2 else rate
        c = (1 - rate) * np.eye(q) + rate * np.roll(np.eye(q), 1, axis=0)
    elif noise.startswith("oneway"):
        c[0, 1:], c[range(1, q), range(1, q)] = rate, 1 - rate
    elif noise.startswith("random"):
        off = rng.dirichlet(np.ones(q - 1), q).T
        c = (1 - rate) * np.eye(q)
        for t in range(q):
            c[[p for p in range(q) if p != t], t] = rate * off[:, t]
    return c


def corrupt(y, c, noise, x, rng):
    """Returns noisy labels and the matrix that a user would know of them."""
    q = len(c)
    if not noise.startswith("feature"):
        return (rng.random((len(y), 1)) > c.T[y].cumsum(1)).sum(1).clip(0, q - 1), c
    side = np.argsort(np.argsort(np.nan_to_num((x - np.nanmean(x, 0)) / (np.nanstd(x, 0) + 1e-9)) @ rng.normal(size=x.shape[1]))) / len(y)
    wrong = rng.random(len(y)) < .6 * side
    noisy = np.where(wrong, (y + rng.integers(1, q, len(y))) % q, y)
    c = np.zeros((q, q))
    np.add.at(c, (noisy, y), 1)
    return noisy, c / c.sum(0)


OURS = {"trees": dict(learner="trees"), "boost": dict(learner="trees", options={"mode": "boost"}),
        "forest": dict(learner="trees", options={"mode": "forest"}), "auto": dict(learner="auto"), "softmax": dict(),
        "curved": dict(kernel="rbf")}


def measure(frame, y, noise, draw, rows, ours):
    rng = np.random.default_rng(1000 * draw + NOISES.index(noise))
    order = rng.permutation(len(y))
    n = min(rows, 2 * len(y) // 3)
    fit, test = order[:n], order[n:n + max(rows, 1500)]
    q = y.max() + 1
    codes = frame.copy()
    words = [c for c in frame if str(frame[c].dtype) == "category"]
    if words:
        codes[words] = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan).fit_transform(frame[words].astype(object))
    x = codes.to_numpy(float)
    noisy, c = corrupt(y[fit], matrix(noise, q, rng), noise, x[fit], rng)
    found, seconds = {}, {}
    cats = [str(d) == "category" and len(frame[k].cat.categories) < 255 for k, d in frame.dtypes.items()]
    filled = np.nan_to_num(x, nan=-1e6)
    for name, model, a in (
            ("HistGradientBoosting", HistGradientBoostingClassifier(random_state=draw, categorical_features=cats), x),
            ("forest", RandomForestClassifier(random_state=draw, n_jobs=2), filled),
            ("xgboost", XGBClassifier and XGBClassifier(random_state=draw, n_jobs=2, tree_method="hist"), x)):
        if model is None:
            continue
        present, labels = np.unique(noisy, return_inverse=True)
        start = time.time()
        model.fit(a[fit], labels)
        seconds[name] = time.time() - start
        found[name] = np.mean(present[model.predict(a[test])] != y[test])
    for name in ours:
        start = time.time()
        given = c if noise != "none" else None
        m = umagpu.NoisyClassifier(confusion=given, random_state=draw + 1, device="cpu", **OURS[name])
        labels = pd.Categorical.from_codes(noisy, [f"{k:03d}" for k in range(q)])
        try:
            m.fit(frame.iloc[fit], np.array([f"{k:03d}" for k in noisy]) if given is None else labels)
            found["our " + name] = np.mean(m.predict(frame.iloc[test]).astype(int) != y[test])
        except (ValueError, umagpu.Error) as e:
            print(f"{name}: {e}", file=sys.stderr)
        seconds["our " + name] = time.time() - start
    return found, seconds


def speed():
    """Prints the seconds of fits of 100 rounds of 31 leaves, of 100 trees of a forest, and of predictions."""
    def data(n, d, q):
        rng = np.random.default_rng(n)
        x = rng.normal(size=(n, d)).astype(np.float32)
        return x, (x[:, :5] @ rng.normal(size=(5, q)) + np.sin(3 * x[:, 5:6]) + rng.normal(size=(n, q))).argmax(1)

    boost = {"mode": "boost", "rounds": 100, "leaves": 31, "rate": 0.1, "rows": 1, "columns": 1}
    for n, d, q, forest in ((300_000, 30, 2, False), (50_000, 54, 7, False), (100_000, 30, 2, True)):
        x, y = data(n, d, q)
        if forest:
            models = {"scikit-learn": RandomForestClassifier(100, n_jobs=2),
                      "ours": umagpu.NoisyClassifier("trees", device="cpu", options={"mode": "forest", "rounds": 100, "least": 1})}
        else:
            models = {"HistGradientBoosting": HistGradientBoostingClassifier(max_iter=100, early_stopping=False),
                      "xgboost": XGBClassifier and XGBClassifier(n_estimators=100, max_leaves=31, grow_policy="lossguide", max_depth=0,
                                                                 learning_rate=.1, n_jobs=2, tree_method="hist"),
                      "ours": umagpu.NoisyClassifier("trees", device="cpu", options=boost)}
        for name, model in models.items():
            if model is not None:
                seconds = []
                for _ in range(3):
                    start = time.time()
                    model.fit(x, y)
                    seconds.append(time.time() - start)
                start = time.time()
                right = np.mean(model.predict(x) == y)
                took = time.time() - start
                print(f"{n} x {d} x {q}, {'forest' if forest else 'boosting'}: {name}: fit {min(seconds):.2f} s, predict {took:.2f} s "
                      f"({n / took / 1e6:.2f} million rows/s), accuracy {right:.3f}", flush=True)


def main():
    if sys.argv[1:] == ["--speed"]:
        return speed()
    p = argparse.ArgumentParser()
    p.add_argument("data")
    p.add_argument("folder")
    p.add_argument("--found", help="a folder of further tables, as of peers/clean.py")
    p.add_argument("--sets", default=SETS)
    p.add_argument("--noises", default=",".join(NOISES))
    p.add_argument("--draws", type=int, default=5)
    p.add_argument("--rows", type=int, default=1500)
    p.add_argument("--ours", default="trees,auto,softmax,curved")
    o = p.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    path = os.path.join(o.folder, "trees.jsonl")
    done = {}
    if os.path.exists(path):
        with open(path) as f:
            done = {(r["set"], r["noise"], r["draw"]): r for r in map(json.loads, f)}
    for name in o.sets.split(","):
        frame = None
        for noise in o.noises.split(","):
            for draw in range(o.draws):
                if (name, noise, draw) in done:
                    continue
                if frame is None:
                    frame, y = load(name, o.data, o.found)
                found, seconds = measure(frame, y, noise, draw, o.rows, o.ours.split(","))
                r = done[name, noise, draw] = {"set": name, "noise": noise, "draw": draw, "error": found, "seconds": seconds}
                with open(path, "a") as f:
                    f.write(json.dumps(r) + "\n")
    cases = collections.defaultdict(lambda: collections.defaultdict(list))
    for (name, noise, _), r in done.items():
        for k, v in r["error"].items():
            cases[name, noise][k].append(100 * v)
    models = sorted({k for c in cases.values() for k in c}, key=lambda k: (k.startswith("our"), k))
    print("| table | noise | " + " | ".join(models) + " |\n|---|---|" + "--:|" * len(models))
    for (name, noise), c in cases.items():
        print(f"| {name} | {noise} | " + " | ".join(f"{np.mean(c[k]):.1f}" if k in c else "" for k in models) + " |")
    means = {k: np.mean([np.mean(c[k]) for c in cases.values() if k in c]) for k in models}
    print("| mean | | " + " | ".join(f"{means[k]:.1f}" for k in models) + " |")


if __name__ == "__main__":
    main()
