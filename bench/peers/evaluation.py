#!/usr/bin/python3
"""Evaluations beside numpy's and beside what the machine can do: evaluation.py [--json] [RUNS [PACKAGE...]]

Runs the benchmark Evaluate of all engines (./host/engine/enginetest), numpy's
evaluation of the same sizes (scipy's of sparse examples) and peak.c in turns, RUNS times
(3), from the top of the repository; numpy also with OpenBLAS told to use AVX-512. An
evaluation is scores, softmax, loss, residuals and X' times these, in float32. Prints for
each size the best time of each, the engine's share of the float32 fma peak (two operations
for each term of the two products) and of the memory bandwidth (one reading of X), the GB/s
that go through its caches for sparse X, whose work they are (each value twice with its place,
Q weights and Q coefficients), and how many times as long numpy takes.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

LINE = re.compile(r"^BenchmarkEvaluate/(\S+)/(dense|sparse)/n=(\d+)/d=(\d+)/Q=(\d+)/evaluate\S*\s.* ([\d.e+]+) ms-best$", re.M)
STORED = {(5664, 19767): 44, (6532, 21967): 42, (11314, 44577): 85, (5000, 21967): 42}  # drawn for a row, as the benchmark does


def numpy_seconds(form, n, d, q, runs=5):
    import numpy as np

    rng = np.random.default_rng(1)
    if form == "dense":
        x = rng.random((n, d), np.float32) - np.float32(0.5)
    else:
        from scipy import sparse

        k = STORED[n, d]
        columns = np.minimum(d - 1, (d ** rng.random(n * k)).astype(int))
        x = sparse.csr_matrix((np.ones(n * k, np.float32), (np.repeat(np.arange(n), k), columns)), (n, d))
    w = (rng.random((q, d), np.float32) - np.float32(0.5)) * np.float32(0.2)
    target = np.eye(q, dtype=np.float32)[rng.integers(0, q, n)]
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        p = x @ w.T
        p -= p.max(1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(1, keepdims=True)
        -np.log((p * target).sum(1)).sum()
        p -= target
        x.T @ p if form == "sparse" else p.T @ x
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def output(*args, **env):
    return subprocess.run(args, check=True, capture_output=True, text=True, env={**os.environ, **env}).stdout


def main(runs=3, *packages):
    best, least, peaks = {}, {}, []
    with tempfile.TemporaryDirectory() as folder:
        peak = folder + "/peak"
        output("cc", "-O3", "-pthread", "-o", peak, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peak.c"))
        for _ in range(int(runs)):
            for package in packages or ("./host/engine/enginetest",):
                peaks.append([float(v) for v in output(peak).split()])
                text = output("go", "test", "-run", "^$", "-bench", "Evaluate//////^evaluate$", "-benchtime", "10x", package)
                found = LINE.findall(text)
                if not found:
                    sys.exit(f"{package}: found no time in {text!r}")
                for engine, form, *size, ms in found:
                    key = (form, *map(int, size))
                    of = best.setdefault(key, {})
                    of[engine] = min(of.get(engine, 1e9), float(ms) / 1e3)
            for key in best:
                for core in ({}, {"OPENBLAS_CORETYPE": "SkylakeX"}):
                    seconds = float(output(sys.executable, __file__, "--numpy", *map(str, key), **core))
                    least[key] = min(least.get(key, 1e9), seconds)
    flops, rate = (max(p) for p in zip(*peaks))
    rows = []
    for key, engines in best.items():
        form, n, d, q = key
        stored = n * d if form == "dense" else n * STORED[n, d]
        for engine, s in engines.items():
            rows.append({"form": form, "n": n, "d": d, "q": q, "engine": engine, "seconds": s, "numpy": least[key],
                         "fma_share": 4 * stored * q / s / 1e9 / flops,
                         "cached_gb_per_s": stored * (16 + 8 * q) / s / 1e9 if form == "sparse" else None,
                         "bandwidth_share": stored * (4 if form == "dense" else 8) / s / 1e9 / rate})
    return {"gflop_per_s": flops, "gb_per_s": rate, "rows": rows}


if __name__ == "__main__":
    args = sys.argv[1:]
    if args[:1] == ["--numpy"]:
        print(numpy_seconds(args[1], *map(int, args[2:])))
    else:
        result = main(*(a for a in args if a != "--json"))
        if "--json" in args:
            print(json.dumps(result))
        else:
            print("peak {gflop_per_s:.0f} GFLOP/s, memory {gb_per_s:.1f} GB/s".format(**result))
            for r in result["rows"]:
                print("{form} n={n} d={d} Q={q} {engine}: {ms:.2f} ms, {fma:.0f} % of the fma peak, {band:.0f} % of bandwidth{cached}; numpy {npms:.1f} ms, {times:.1f} times as long".format(
                    ms=1e3 * r["seconds"], fma=100 * r["fma_share"], band=100 * r["bandwidth_share"], cached=f", {r['cached_gb_per_s']:.0f} GB/s cached" if r["cached_gb_per_s"] else "", npms=1e3 * r["numpy"], times=r["numpy"] / r["seconds"], **r))
