#!/usr/bin/python3
"""Few examples for all beside numpy and chance: atoms.py UMA_GPU IMAGES.idx LABELS.idx [N [K [REPEAT [CHOICE]]]]

Chooses K (1000) of the first N (60000) images that stand for all, whatever their labels: `uma-gpu kernelmean atoms` (time of
the choice, peak memory of the process) and a herding twin in numpy, float32, as one would write it: the means by matrix
products in pieces of 2000 rows, then a row of kernel values an atom. Then the distance in feature space from the mean of
all, in float64 from the float32 kernel values: of both, of K drawn at random (mean of 100), and of the first √N atoms beside
1/√N, the rate of Compress++ (Shetty, Dwivedi and Mackey 2022: √N atoms at an error of the order of 1/√N). Features are
divided by their largest value, gamma is 1 / the median squared distance that uma-gpu found. REPEAT is how often
the program is run (1). With CHOICE clusters it is farthest-first traversal (Gonzalez) of K examples whose time is compared, in numpy by a row of kernel values each.
Prints JSON.
"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np


def images(path, n):
    read = gzip.open if path.endswith(".gz") else open
    with read(path, "rb") as f:
        raw = np.frombuffer(f.read(), np.uint8, offset=16)
    x = raw.reshape(-1, 784)[:n].astype(np.float32)
    return x / np.maximum(x.max(0), 1)


def values(a, b, gamma):
    d = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * (a @ b.T)
    return np.exp(-gamma * np.maximum(d, 0))


def herd(x, gamma, k):
    start = time.perf_counter()
    target = np.concatenate([values(x[at:at + 2000], x, gamma).mean(1, dtype=np.float64) for at in range(0, len(x), 2000)])
    seconds = [time.perf_counter() - start]
    square, sums, chosen = (x * x).sum(1), np.zeros(len(x)), []
    for t in range(k):
        chosen.append(int((target - sums / (t + 1)).argmax()))
        c = chosen[-1]
        sums += np.exp(-gamma * np.maximum(square + square[c] - 2 * (x @ x[c]), 0))
    return chosen, target, seconds + [time.perf_counter() - start - seconds[0]]


def farthest(x, gamma, k):
    """Gonzalez' traversal, and one of each part that it cuts; returns seconds."""
    start, square = time.perf_counter(), (x * x).sum(1)
    nearest, part, centre = np.full(len(x), np.inf, np.float32), np.zeros(len(x), np.int64), 0
    for t in range(k):
        d = 2 - 2 * np.exp(-gamma * np.maximum(0, square + square[centre] - 2 * (x @ x[centre])))
        closer = d < nearest
        part[closer], nearest[closer] = t, d[closer]
        centre = int(nearest.argmax())
    order = np.random.default_rng(1).permutation(len(x))
    np.unique(part[order], return_index=True)
    return time.perf_counter() - start


def distance(x, target, gamma, rows, weights):
    inner = weights @ values(x[rows], x[rows], gamma).astype(np.float64) @ weights
    return float(np.sqrt(max(0, target.mean() - 2 * (weights @ target[rows]) + inner)))


def program(uma, data, labels, n, k, choice):
    """Runs the program; returns its report, peak memory in MiB, and the atoms."""
    with tempfile.TemporaryDirectory() as f:
        where = ["--data", data, "--labels", labels]
        if n < 60000:
            np.savez(f"{f}/x.npz", X=images(data, n), y=np.zeros(n, np.int64))
            where = ["--data", f"{f}/x.npz", "--no-labels"]
        command = [uma, "kernelmean", "atoms", *where, "--atoms", str(k), "--out", f"{f}/atoms.csv", "--device", "cpu",
                   "--atom-choice", choice, "--json", "--quiet"]
        plan = json.loads(subprocess.run(command + ["--dry-run"], stdout=subprocess.PIPE, check=True).stdout)
        with open(f"{f}/report.json", "w") as out:
            p = subprocess.Popen(command, stdout=out)
            _, status, used = os.wait4(p.pid, 0)
        if status:
            sys.exit(f"{command}: exit status {status}")
        with open(f"{f}/report.json") as text, open(f"{f}/atoms.csv") as table:
            report, rows = json.load(text), list(csv.reader(table))[1:]
    report["planned_mib"] = plan["memory_bytes"] / 2**20
    report["cpu_seconds"] = used.ru_utime + used.ru_stime
    return report, used.ru_maxrss / 1024, [int(r[0]) - 1 for r in rows], np.array([float(r[1]) for r in rows])


def main(uma, data, labels, n=60000, k=1000, repeat=1, choice="herding"):
    n, k = int(n), int(k)
    runs = [program(uma, data, labels, n, k, choice) for _ in range(int(repeat))]
    report, mib, rows, weights = min(runs, key=lambda r: r[0]["seconds"])
    x, gamma = images(data, n), report["gamma"]
    found = {"n": n, "k": k, "gamma": gamma, "uma_seconds": [r[0]["seconds"] for r in runs], "uma_mib": mib,
             "uma_planned_mib": report["planned_mib"], "uma_cpu_seconds": report["cpu_seconds"], "uma_says": report["error"]}
    if choice == "clusters":
        found["numpy_seconds"] = farthest(x, gamma, k)
        print(json.dumps(found))
        return
    chosen, target, found["numpy_seconds"] = herd(x, gamma, k)
    few, rng = int(np.sqrt(n)), np.random.default_rng(1)
    even = lambda count: np.full(count, 1 / count)
    chance = lambda count: float(np.mean([distance(x, target, gamma, rng.permutation(n)[:count], even(count))
                                          for _ in range(100)]))
    print(json.dumps(found | {
        "same_atoms": len(set(chosen) & set(rows)), "uma": distance(x, target, gamma, rows, weights),
        "numpy": distance(x, target, gamma, chosen, even(k)), "chance": chance(k), "root": few,
        "numpy_root": distance(x, target, gamma, chosen[:few], even(few)), "chance_root": chance(few), "rate": n ** -0.5}))


if __name__ == "__main__":
    main(*sys.argv[1:])
