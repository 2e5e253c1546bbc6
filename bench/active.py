#!/usr/bin/env python3
"""Active learning beside scikit-learn: the tables of docs/active.md.

usage: active.py peers DATA [RUNS [SEED]]   uncertainty sampling written with scikit-learn, rows as JSON lines
       active.py areas DATA [RUNS [SEED [SET...]]]   uniform and margin by scikit-learn, as `uma-gpu reproduce
                                            active-benchmark`
       active.py benchmark ROWS.jsonl...    areas of several files of rows, as Markdown
       active.py table ROWS.jsonl...        what several files of rows have, as Markdown
  DATA holds reuters21578/reuters52.{train,test}.svm.gz, banana/banana.dat.gz and what rframe.py writes; RUNS is 5,
  SEED 1
The protocol is the one that `build/papers fig7.5` follows: the ten largest topics of Reuters-21578, each against the rest, a
pool of 500 that is drawn for each run and topic, two labels at the start, 50 questions about the example nearest to
the boundary of scikit-learn's SVC (linear, C = 1000, which is hard margin) or LogisticRegression (C = 100).
areas has the protocol of that experiment: 60 % to ask about, 20 labels, 100 questions, SVC (rbf, C = 1, gamma = auto).
Rows of several seeds are joined by table: mean accuracy after 0, 5, 10, 20, 50 and 100 questions, its standard error
after 20, and how many labels the mean needs for 95 % and for 99 % of the accuracy of all labels; differences between
curves of the same runs after 5, 10, 20, 50 and 100 questions.
Needs scikit-learn and numpy for peers, nothing but Python for table.
"""
import collections
import gzip
import json
import math
import sys

QUESTIONS, POOL, TOPICS = 50, 500, 10
FULL = "all labels"


def told(n):
    return n <= 10 or n % 5 == 0


def peers(data, runs, seed):
    import numpy as np
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    def read(name):
        with gzip.open(f"{data}/reuters21578/reuters52.{name}.svm.gz") as f:
            return load_svmlight_file(f, n_features=21967, zero_based=False)

    (x, y), (tx, ty) = read("train"), read("test")
    models = {
        "scikit-learn, SVC": lambda: SVC(kernel="linear", C=1000),
        "scikit-learn, logistic": lambda: LogisticRegression(C=100, max_iter=1000),
    }
    topics = np.argsort(-np.bincount(y.astype(int)), kind="stable")[:TOPICS]
    curves = {name: np.zeros((runs, QUESTIONS + 1)) for name in models}
    full = np.zeros(runs)
    for k in range(runs):
        for topic in topics:
            rng = np.random.default_rng([seed + k, int(topic)])
            order, is_topic = rng.permutation(len(y)), y == topic
            first = [order[~is_topic[order]][0], order[is_topic[order]][0]]
            pool = np.concatenate([first, order[~np.isin(order, first)][: POOL - 2]])
            px, py, right = x[pool], is_topic[pool], ty == topic
            full[k] += (SVC(kernel="linear", C=1000).fit(px, py).predict(tx) == right).mean() / TOPICS
            for name, model in models.items():
                known = [0, 1]
                for n in range(QUESTIONS + 1):
                    m = model().fit(px[known], py[known])
                    if told(n):
                        curves[name][k, n] += (m.predict(tx) == right).mean() / TOPICS
                    far = np.abs(m.decision_function(px))
                    far[known] = np.inf
                    known.append(int(np.argmin(far)))
    for name, runs_of in list(curves.items()) + [(FULL, None)]:
        for n in range(QUESTIONS + 1) if runs_of is not None else [QUESTIONS + 1]:
            if runs_of is None or told(n):
                of = full if runs_of is None else runs_of[:, n]
                learner = "scikit-learn, " + FULL if runs_of is None else name
                print(json.dumps({"data": f"reuters, pool {POOL}", "learner": learner, "level": n, "runs": list(of)}))


def areas(data, runs, seed, names):
    import numpy as np
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    def draw(name, rng):
        if name == "banana":
            with gzip.open(f"{data}/banana/banana.dat.gz", "rt") as f:
                rows = np.array([[float(v) for v in line.split(",")] for line in f if line[0] != "@"])
            return rows[:, :-1], rows[:, -1] > 0
        if name not in ("checkerboard", "twonorm", "ringnorm"):
            rows = np.loadtxt(f"{data}/benchmark/{name}.csv", delimiter=",")
            return rows[:, :-1], rows[:, -1] > 0
        if name == "checkerboard":
            x = rng.uniform(0, 4, (2000, 2))
            return x, x.astype(int).sum(axis=1) % 2 == 1
        y = rng.integers(2, size=2000) == 1
        x, mean = rng.normal(size=(2000, 20)), 2 / math.sqrt(20)
        if name == "twonorm":
            return x + np.where(y, mean, -mean)[:, None], y
        return np.where(y[:, None], x + mean, 2 * x), y

    for name in names or ("banana", "ringnorm", "twonorm", "checkerboard"):
        for strategy in "uniform", "margin":
            of = []
            for k in range(runs):
                rng = np.random.default_rng(seed + k)
                x, y = draw(name, rng)
                order, cut = rng.permutation(len(y)), len(y) * 6 // 10
                scale = StandardScaler().fit(x[order[:cut]])
                x, y = scale.transform(x[order]), y[order]
                px, py, tx, ty = x[:cut], y[:cut], x[cut:], y[cut:]
                known, curve = list(range(20)), []
                for _ in range(101):
                    m = SVC(gamma="auto").fit(px[known], py[known])
                    curve.append((m.predict(tx) == ty).mean())
                    far = np.abs(m.decision_function(px)) if strategy == "margin" else np.arange(cut, dtype=float)
                    far[known] = np.inf
                    known.append(int(np.argmin(far)))
                of.append((sum(curve) - (curve[0] + curve[-1]) / 2) / 100)
            learner = "scikit-learn, " + strategy
            print(json.dumps({"data": name, "learner": learner, "level": 100, "mean": sum(of) / runs, "runs": of}))


def table(paths):
    runs = collections.defaultdict(list)
    for path in paths:
        with open(path) as f:
            for line in f:
                r = json.loads(line)
                runs[r["data"], r["learner"], r["level"]] += r["runs"]

    def mean(of):
        return sum(of) / len(of)

    shown = [0, 5, 10, 20, 50, 100]
    for data in sorted({key[0] for key in runs}):
        learners = sorted({key[1] for key in runs if key[0] == data})
        all_labels = {name: mean(of) for (d, name, _), of in runs.items() if d == data and name.endswith(FULL)}
        print(f"\n{data}: " + ", ".join(f"{name} {v:.4f}" for name, v in all_labels.items()))
        print("\n| | runs | " + " | ".join(map(str, shown)) + " | ± at 20 | 95 % | 99 % |")
        print("|---" * (len(shown) + 5) + "|")
        for name in learners:
            curve = {key[2]: of for key, of in runs.items() if key[0] == data and key[1] == name}
            if name.endswith(FULL):
                continue
            at = curve[20]
            error = math.sqrt(sum((v - mean(at)) ** 2 for v in at) / (len(at) - 1) / len(at))
            best = all_labels.get("scikit-learn, " + FULL if name.startswith("scikit") else FULL)
            need = []
            for share in (0.95, 0.99):
                reached = [n for n in sorted(curve) if best and mean(curve[n]) >= share * best]
                need.append(str(2 + reached[0]) if reached else "more")
            cells = [f"{mean(curve[n]):.3f}" if n in curve else "" for n in shown]
            print(f"| {name} | {len(at)} | " + " | ".join(cells) + f" | {error:.3f} | " + " | ".join(need) + " |")
        for a, b in ("active-bpm", "active-svm"), ("active-svm", "random"), ("active-bpm", "random-bpm"):
            if (data, a, 20) in runs:
                ahead = [told_error([100 * (u - v) for u, v in zip(runs[data, a, n], runs[data, b, n])], 1) for n in shown[1:]]
                print(f"\n{a} - {b}, points: " + ", ".join(ahead))


def told_error(of, digits):
    mean = sum(of) / len(of)
    error = math.sqrt(sum((v - mean) ** 2 for v in of) / (len(of) - 1) / len(of))
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def benchmark(paths):
    learners = ["uniform", "margin", "bpm", "uniform-centroid", "bpm-centroid", "scikit-learn, uniform",
                "scikit-learn, margin"]
    runs = collections.defaultdict(list)
    for path in paths:
        with open(path) as f:
            for line in f:
                r = json.loads(line)
                if r.get("measure", "area_under_accuracy") == "area_under_accuracy":
                    runs[r["data"], r["learner"]] += r["runs"]

    print("| | runs | " + " | ".join(f"`{name}`" for name in learners) + " | `bpm-centroid` - `margin`, points |")
    print("|---" * (len(learners) + 3) + "|")
    for data in sorted({key[0] for key in runs}):
        own, rival = runs[data, "bpm-centroid"], runs[data, "margin"]
        cells = [told_error(runs[data, name], 3) if runs[data, name] else "" for name in learners]
        ahead = told_error([100 * (a - b) for a, b in zip(own, rival)], 1)
        print(f"| {data} | {len(own)} | " + " | ".join(cells) + f" | {ahead} |")


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "peers":
        peers(sys.argv[2], int((sys.argv[3:] or [5])[0]), int((sys.argv[4:] or [1])[0]))
    elif len(sys.argv) > 2 and sys.argv[1] == "areas":
        areas(sys.argv[2], int((sys.argv[3:] or [5])[0]), int((sys.argv[4:] or [1])[0]), sys.argv[5:])
    elif len(sys.argv) > 2 and sys.argv[1] == "benchmark":
        benchmark(sys.argv[2:])
    elif len(sys.argv) > 2 and sys.argv[1] == "table":
        table(sys.argv[2:])
    else:
        sys.exit(__doc__)


main()
