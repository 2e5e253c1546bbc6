#!/usr/bin/python3
"""The Bayes point machine beside scikit-learn's SVC and LinearSVC: bpm.py UMA-GPU DATA RESULTS [SET...]

DATA holds banana/banana.dat.gz, optdigits/optdigits.{tra,tes}.gz and small/. Of each set SPLITS (20) splits are drawn:
400 examples of banana and 500 of optdigits, two thirds of the others of each class, are to learn from, the rest is
to test on. All programs are given the same examples, standardized by the mean and deviation of those to learn from.
Parameters are chosen by 3 folds of these alone:

  bpm               --softness of 6, on the preparations bias and bias,l2
  LinearSVC         C of 5, on the examples and on what bias,l2 makes of them
  bpm --kernel rbf  --softness of 4, γ of 4; 300 components, or all of fewer than 450 examples, prepared by bias alone,
                    which leaves them the kernel function that SVC has
  SVC               C of 4, the same γ

and softmax, with its parameters by default, shows what its probabilities are like beside bpm's. A line of RESULTS for
each set and split, and measures none again that has a row; then the tables of docs/bpm.md.
Wants Debian's python3-sklearn.
"""
import gzip
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, LinearSVC

SPLITS = int(os.environ.get("SPLITS", "20"))
FOLDS = 3
COSTS = [0.01, 0.1, 1, 10, 100]
SOFTNESS = [0.001, 0.01, 0.1, 1, 10, 100]
RBF_COSTS = [0.1, 1, 10, 100]
RBF_SOFTNESS = [0.0001, 0.001, 0.01, 0.1]
WIDTHS = [0.1, 0.4, 1.6, 6.4]  # γ times the number of features
PAIRS = [("linear", "bpm", "LinearSVC"), ("rbf", "bpm rbf", "SVC")]

# file, lines before the examples, column of the class, columns that are no features; examples to learn from
SETS = {
    "iris": (["small/sklearn_iris.csv.gz"], 1, -1, [], 2 / 3),
    "wine": (["small/sklearn_wine_data.csv.gz"], 1, -1, [], 2 / 3),
    "zoo": (["small/zoo.csv.gz"], 1, -1, [], 2 / 3),
    "glass": (["small/glass.data.gz"], 0, -1, [0], 2 / 3),
    "breast cancer": (["small/sklearn_breast_cancer.csv.gz"], 1, -1, [], 2 / 3),
    "vehicle": (["small/vehicle.csv.gz"], 1, -1, [], 2 / 3),
    "banana": (["banana/banana.dat.gz"], 0, -1, [], 400),
    "optdigits": (["optdigits/optdigits.tra.gz", "optdigits/optdigits.tes.gz"], 0, -1, [], 500),
}


def read(folder, name):
    files, above, label, ignored, share = SETS[name]
    rows = []
    for file in files:
        with gzip.open(os.path.join(folder, file), "rt") as f:
            rows += [line.strip().split(",") for line in f.readlines()[above:] if line.strip() and line[0] != "@"]
    width = len(rows[0])
    columns = [j for j in range(width) if j != label % width and j not in ignored]
    number = {"TRUE": 1.0, "FALSE": 0.0}
    x = np.array([[number[row[j]] if row[j] in number else float(row[j]) for j in columns] for row in rows])
    return x, np.unique([row[label].strip() for row in rows], return_inverse=True)[1], share


def split(x, y, share, seed):
    """The examples to learn from and to test on, standardized, and the labels of both."""
    train, test, y_train, y_test = train_test_split(x, y, train_size=share, stratify=y, random_state=seed)
    mean, deviation = train.mean(0), train.std(0)
    deviation[deviation == 0] = 1
    return [((part - mean) / deviation).astype(np.float32) for part in (train, test)], (y_train, y_test)


def lengths(x):
    """What bias,l2 makes of examples."""
    x = np.hstack([x, np.ones((len(x), 1), x.dtype)])
    return x / np.sqrt((x**2).sum(1, keepdims=True))


def choose(model, grid, x, y, seed):
    return GridSearchCV(model, grid, cv=StratifiedKFold(FOLDS, shuffle=True, random_state=seed)).fit(x, y)


def linear(x, y, seed):
    best = [
        choose(LinearSVC(dual=False, max_iter=10000), {"C": COSTS}, x, y, seed),
        choose(make_pipeline(FunctionTransformer(lengths), LinearSVC(dual=False, max_iter=10000, fit_intercept=False)),
               {"linearsvc__C": COSTS}, x, y, seed),
    ]
    return max(best, key=lambda search: search.best_score_)


def run(*args):
    done = subprocess.run([PROGRAM, *map(str, args), "--device", "cpu", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, args))}: {done.stderr}")
    return done.stdout


def ways(values):
    return "{" + "|".join(f"{v:.9g}" for v in values) + "}"


def expand(flags):
    """All ways to take one of the choices in each {a|b} of flags."""
    parts = re.split(r"\{([^}]*)\}", flags)
    choices = [part.split("|") if k % 2 else [part] for k, part in enumerate(parts)]
    return ["".join(way) for way in itertools.product(*choices)]


def own(flags, seed):
    """Returns what eval says of the model that cv chose among these flags, and the flags chosen."""
    tries = [word for way in expand(flags) for word in ("--try", way)]
    said = json.loads(run("cv", "--data", "train.npz", "--folds", FOLDS, "--seed", seed, *tries, "--json"))
    chosen = said["tried"][0]["flags"] if len(tries) > 2 else flags
    run("train", "--data", "train.npz", "--seed", seed, *chosen.split(), "--model", "model.npz")
    report = json.loads(run("eval", "--model", "model.npz", "--data", "test.npz", "--json"))
    return report, chosen


def measure(x, y, share, seed):
    (train, test), (y_train, y_test) = split(x, y, share, seed)
    for name, part, labels in ("train", train, y_train), ("test", test, y_test):
        np.savez(name + ".npz", X=part, y=labels)
    gammas = [w / train.shape[1] for w in WIDTHS]
    components = "" if len(train) < 450 else "--components 300 "
    row = {}
    for name, flags in {
        "bpm": f"--learner bpm --normalize {{bias|bias,l2}} --softness {ways(SOFTNESS)}",
        "bpm rbf": f"--learner bpm --normalize none --kernel rbf {components}--normalize-components bias "
                   f"--gamma {ways(gammas)} --softness {ways(RBF_SOFTNESS)}",
        "softmax": "--learner softmax --normalize bias,l2",
    }.items():
        report, chosen = own(flags, seed)
        row[name] = {"errors": round(report["error_rate"] * len(test)), "chosen": chosen,
                     "log loss": report["log_loss"], "calibration": report["calibration_error"]}
    for name, model in {
        "LinearSVC": linear(train, y_train, seed),
        "SVC": choose(SVC(), {"C": RBF_COSTS, "gamma": gammas}, train, y_train, seed),
    }.items():
        row[name] = {"errors": int((model.predict(test) != y_test).sum()), "chosen": str(model.best_params_)}
    return {"tested": len(test), **row}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def tables(rows):
    sets = [name for name in SETS if any(row["set"] == name for row in rows)]
    print("| set | bpm | LinearSVC | better, equal, worse | bpm rbf | SVC | better, equal, worse |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    total = {pair: np.zeros(3, int) for pair, *_ in PAIRS}
    ahead = dict.fromkeys(total, 0)
    for name in sets:
        own_rows = [row for row in rows if row["set"] == name]
        cells = []
        for pair, ours, theirs in PAIRS:
            errors = [mean(row[who]["errors"] / row["tested"] for row in own_rows) for who in (ours, theirs)]
            signs = [np.sign(row[ours]["errors"] - row[theirs]["errors"]) for row in own_rows]
            counts = np.array([signs.count(s) for s in (-1, 0, 1)])
            total[pair] += counts
            ahead[pair] += errors[0] <= errors[1]
            cells += [f"{v:.4f}" for v in errors] + [", ".join(map(str, counts))]
        print(f"| {name} | " + " | ".join(cells) + " |")
    for pair, counts in total.items():
        print(f"\n{pair}: at least as good on {ahead[pair]} of {len(sets)} sets, by the mean, and in "
              f"{counts[0] + counts[1]} of {counts.sum()} splits ({(counts[0] + counts[1]) / counts.sum():.0%}); "
              f"better in {counts[0]}, worse in {counts[2]}")
    print("\n| set | " + " | ".join(f"{who}, {what}" for what in ("log loss", "calibration") for who in
                                    ("bpm", "bpm rbf", "softmax")) + " |")
    print("|---|" + "--:|" * 6)
    for name in sets:
        cells = [f"{mean(row[who][what] for row in rows if row['set'] == name):.3f}"
                 for what in ("log loss", "calibration") for who in ("bpm", "bpm rbf", "softmax")]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main(data, results, *names):
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", "The least populated class")
    rows = []
    if os.path.exists(results):
        with open(results) as f:
            rows = [json.loads(line) for line in f]
    with open(results, "a") as log, tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for seed in range(1, SPLITS + 1):
            for name in names or SETS:
                if not any(row["set"] == name and row["split"] == seed for row in rows):
                    rows.append({"set": name, "split": seed, **measure(*read(data, name), seed)})
                    print(json.dumps(rows[-1]), file=log, flush=True)
        os.chdir("/")
    tables(rows)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv[1])
    main(*map(os.path.abspath, sys.argv[2:4]), *sys.argv[4:])
