#!/usr/bin/python3
"""How many right labels it takes to come near the true C, of rows drawn at random and of the most uncertain rows.

usage: checks.py UMA_GPU DATA RESULTS [SET...]

Ten sets, of at most 2000 rows, under three noises. RESULTS, a JSON object on each line, has what was measured; that is not
measured again. Prints the table of docs/confusion.md: means of the test error beyond that with the true C, in points, and in
how many of the cases it is at most a point.
"""
import csv
import json
import sys
import tempfile

import cases
import numpy as np

CHECKS = [0, 20, 40, 80, 160]
WAYS = ["counted, at random", "learned, at random", "learned, asked"]


def counted(case, rows):
    """Returns the test error with a C of em and of the counts of rows that were checked."""
    with open(case.folder + "/checked.csv", "w") as f:
        f.writelines(["row,label\n"] + [f"{i + 1},{case.y[i]}\n" for i in rows])
    checked = ["--clean", "checked.csv"] if len(rows) else []
    case.call("confusion", "estimate", *case.train, "--out", "C.csv", *checked)
    return case.error("--confusion", "C.csv", "--trust-confusion")[0]


def learned(case, rows):
    """Returns the test error of a training that learns C beside labels that are right."""
    noisy = np.load(case.folder + "/noisy.npz")["y"]
    with open(case.folder + "/labels.csv", "w") as f:
        f.writelines(["row,worker,label\n"] + [f"{i + 1},all,{k}\n" for i, k in enumerate(noisy)] +
                     [f"{i + 1},expert,{case.y[i]}\n" for i in rows])
    return case.error("--annotators", "labels.csv", *(["--trust", "expert"] if len(rows) else []))[0]


def measure(case):
    n, errors = len(case.y), {}
    for k in CHECKS:
        if 2 * k > n:
            break
        drawn = np.random.default_rng(k).choice(n, k, replace=False)
        errors[k] = [counted(case, drawn), learned(case, drawn)]
        if k:
            case.call("issues", *case.train, "--out", "issues.csv")
            rows = sorted(csv.DictReader(open(case.folder + "/issues.csv")), key=lambda r: float(r["predicted_quality"]))
            errors[k].append(learned(case, [int(r["example"]) - 1 for r in rows[:k]]))
        else:
            errors[k].append(errors[k][1])
    return {"known": case.error("--confusion", case.true)[0], "errors": errors}


def main():
    program, data, results, *only = sys.argv[1:]
    cases.MOST = 2000
    names, done = only or cases.SETS, {(r["set"], r["noise"]): r for r in cases.known(results)}
    for name in names:
        for noise in cases.NOISES:
            if (name, noise) not in done:
                with tempfile.TemporaryDirectory() as folder:
                    r = {"set": name, "noise": noise, **measure(cases.Case(program, folder, name, noise, data))}
                with open(results, "a") as f:
                    f.write(json.dumps(r) + "\n")
    print("| noise | right labels | " + " | ".join(WAYS) + " |\n|---|--:|" + "--:|" * len(WAYS))
    for noise in cases.NOISES:
        for k in CHECKS:
            cells = []
            for way in range(len(WAYS)):
                ends = [(r["errors"][str(k)][way], r["known"]) for r in cases.known(results)
                        if r["noise"] == noise and r["set"] in names and str(k) in r["errors"]]
                beyond = [100 * ((1 if e is None else e) - known) for e, known in ends]
                cells.append(f"{np.mean(beyond):.1f}, {sum(b <= 1 for b in beyond)} of {len(beyond)}")
            print(f"| {noise} | {k} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
