#!/usr/bin/env python3
"""Online learners on wrong labels, and on classes of very different sizes: the tables of docs/online.md.

usage: online.py UMA-GPU DATA noise|imbalance [SET...]
  SET is optdigits, letter, reuters9 or drawn; all of them if left out
  DATA holds optdigits/optdigits.{tra,tes}.gz, letter/letter-recognition.data.gz and
  reuters21578/reuters9.{train,test}.svm.gz
  SEEDS, of noise, trainings and drawn examples, is "1 2 3"
noise: 40 % of the labels are wrong, moved to the next class or spread over all others; C is known.
imbalance: right labels; of reuters9, whose largest class is 29 times its smallest, and of seven drawn classes,
  the largest a thousand times the smallest.
Prints means over the seeds as Markdown. Needs nothing but Python.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

NOISE = [
    "softmax", "perceptron", "perceptron --correction steps",
    "pa1 --aggressiveness 0.01", "pa1 --aggressiveness 0.01 --correction steps",
    "pa1 --aggressiveness 0.1", "pa1 --aggressiveness 0.1 --correction steps",
    "copa --aggressiveness 0.1", "copa --aggressiveness 0.1 --correction steps",
    "copa", "copa --correction steps",
    "copa --aggressiveness 10", "copa --aggressiveness 10 --correction steps",
]
IMBALANCE = [
    "perceptron", "perceptron --class-weights balanced", "ultraconservative", "mira", "pa", "pa1",
    "pa1 --class-weights balanced", "pa1 --aggressiveness 0.01", "pa1 --aggressiveness 0.01 --class-weights balanced",
    "pa2", "copa --aggressiveness 0.01", "copa", "copa --aggressiveness 100", "bylander", "blum", "softmax", "uma",
]
SHARES = [0.786, 0.154, 0.05, 0.006, 0.002, 0.0012, 0.0008]  # of drawn classes: about those of Statlog's shuttle


def run(*args):
    done = subprocess.run([PROGRAM, *map(str, args), "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, args))}: {done.stderr}")
    return done.stdout


def draw(path, n, seed):
    """Writes n examples of nine features: classes of SHARES, whose centres lie two to three deviations apart."""
    places, rng = random.Random(9), random.Random(seed)
    centres = [[places.gauss(0, 1) for _ in range(9)] for _ in SHARES]
    with open(path, "w") as f:
        for y in rng.choices(range(len(SHARES)), SHARES, k=n):
            f.write(",".join(f"{rng.gauss(c, 0.8):.3f}" for c in centres[y]) + f",{y}\n")


def sets(seed):
    """The sets, each with its files to train and to test on."""
    if not os.path.exists("letter.tra.npz"):
        run("split", "--data", f"{DATA}/letter/letter-recognition.data.gz", "--label-column", "first",
            "--counts", "15000,5000", "--out", "letter.tra.npz", "--out", "letter.tes.npz")
        for part, name in ("tra", "train"), ("tes", "test"):
            run("convert", "--data", f"{DATA}/optdigits/optdigits.{part}.gz", "--out", f"optdigits.{part}.npz")
            run("convert", "--data", f"{DATA}/reuters21578/reuters9.{name}.svm.gz", "--out", f"reuters9.{part}.svm")
    known = {"optdigits": ".npz", "letter": ".npz", "reuters9": ".svm"}
    if MODE == "imbalance":
        draw("drawn.tra.csv", 43500, seed)
        draw("drawn.tes.csv", 43500, 1000 + seed)
        known = {"reuters9": ".svm", "drawn": ".csv"}
    return {name: end for name, end in known.items() if name in (SETS or known)}


def judge(name, end, way, noise, seed):
    data, known = f"{name}.tra{end}", []
    if noise:
        data, known = f"{name}{noise}{seed}{end}", ["--confusion", f"{name}{noise}.csv"]
        if not os.path.exists(data):
            run("confusion", "inject", "--data", f"{name}.tra{end}", f"--{noise}", "0.4", "--seed", seed,
                "--out", data, "--write-confusion", known[1])
    run("train", "--data", data, *known, "--learner", *way.split(), "--seed", seed, "--model", "m.npz")
    return json.loads(run("eval", "--model", "m.npz", "--data", f"{name}.tes{end}", "--json"))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def summary(reports, between):
    """Error rate and operator norm."""
    return f"{mean(r['error_rate'] for r in reports):.3f}{between}{mean(r['operator_norm'] for r in reports):.2f}"


def noise_table(seeds):
    columns = [(name, end, noise) for name, end in sets(1).items() for noise in ("pairwise", "symmetric")]
    print("| | " + " | ".join(f"{name}, {noise}" for name, _, noise in columns) + " |")
    print("|---|" + "--:|" * len(columns))
    for way in NOISE:
        cells = []
        for name, end, noise in columns:
            reports = [judge(name, end, way, noise, seed) for seed in seeds]
            cells.append(summary(reports, " / "))
        print(f"| `{way}` | " + " | ".join(cells) + " |", flush=True)


def imbalance_tables(seeds):
    for name, end in sets(1).items():
        classes = json.loads(run("info", "--data", f"{name}.tra{end}", "--json"))["classes"]
        sizes = " | ".join(str(c["examples"]) for c in classes)
        print(f"\n| {name} | error | norm | {sizes} |\n|---|--:|--:|" + "--:|" * len(classes))
        for way in IMBALANCE:
            reports = []
            for seed in seeds:
                if name == "drawn":
                    sets(seed)
                reports.append(judge(name, end, way, "", seed))
            recalls = [mean(r["per_class"][k]["recall"] for r in reports) for k in range(len(classes))]
            cells = [summary(reports, " | "), *(f"{v:.2f}" for v in recalls)]
            print(f"| `{way}` | " + " | ".join(cells) + " |", flush=True)


if len(sys.argv) < 4 or sys.argv[3] not in ("noise", "imbalance"):
    sys.exit(__doc__)
PROGRAM, DATA, MODE, SETS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3], sys.argv[4:]
SEEDS = [int(s) for s in os.environ.get("SEEDS", "1 2 3").split()]
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    {"noise": noise_table, "imbalance": imbalance_tables}[MODE](SEEDS)
    os.chdir("/")
