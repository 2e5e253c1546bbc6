"""Compares the reading of a LIBSVM file with scikit-learn's; see reading.sh.

usage: reading.py PROGRAM FILE

PROGRAM is bench/reading. The two take turns, so that a noisy machine disturbs
both alike. A figure is the least of ROUNDS medians of READINGS readings. Ours
makes a content hash besides.
"""
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import sklearn
from sklearn.datasets import load_svmlight_file

ROUNDS, READINGS = 5, 3
PEER = f"scikit-learn {sklearn.__version__}"


def ours(program, file):
    """Seconds by number of processors."""
    out = subprocess.run([program, "-n", str(READINGS), file], check=True, capture_output=True, text=True).stdout
    return {int(processors): float(seconds) for processors, seconds in map(str.split, out.splitlines())}


def theirs(file):
    seconds = []
    for _ in range(READINGS):
        start = time.perf_counter()
        load_svmlight_file(file, dtype=np.float32)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main(program, file):
    best = {}
    for _ in range(ROUNDS):
        figures = {f"uma-gpu, processors: {n}": s for n, s in ours(program, file).items()}
        figures[PEER] = theirs(file)
        for name, s in figures.items():
            best[name] = min(s, best.get(name, s))
    size = os.path.getsize(file)
    peer = best[PEER]
    print(f"{size / 1e6:.1f} MB; best of {ROUNDS} medians of {READINGS} readings")
    for name, s in best.items():
        print(f"{name:24} {s:8.3f} s {size / 1e6 / s:7.1f} MB/s {peer / s:6.2f} times scikit-learn's speed")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: reading.py PROGRAM FILE")
    main(*sys.argv[1:])
