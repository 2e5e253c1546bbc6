#!/usr/bin/python3
"""The rate of kernel PCA's projection beside that of OpenBLAS's sgemm: projection.py [RUNS]

Runs the benchmark Project of each engine and numpy's products of the same sizes in
turns, RUNS times (3), from the top of the repository. Prints for each size the best
GFLOP/s of OpenCL, of the assembly engine and of numpy, and the ratios to numpy. For rbf
the engines do both products and the kernel values, numpy both products alone.
"""
import re
import subprocess
import sys
import time

import numpy as np

LINE = re.compile(r"/(\w+)/n=(\d+)/d=(\d+)/m=(\d+)/axes=(\d+)-?\d*\s.*\s([\d.]+) GFLOP/s")


def engine(package, best):
    text = subprocess.run(["go", "test", "-run", "^$", "-bench", "Project", "-benchtime", "2x", package], check=True, capture_output=True, text=True).stdout
    found = LINE.findall(text)
    if not found:
        sys.exit(f"{package}: found no rate in {text!r}")
    for kind, *size, rate in found:
        key = (kind, *map(int, size))
        best[key] = max(best.get(key, 0), float(rate))


def numpy_rate(n, d, m, axes):
    rng = np.random.default_rng(1)
    x, y = rng.random((n, d), np.float32), rng.random((m, d), np.float32)
    v = rng.random((m, axes), np.float32)
    start = time.perf_counter()
    k = x @ y.T
    if axes:
        k @ v
    return 2 * n * m * (d + axes) / (time.perf_counter() - start) / 1e9


opencl, processor, blas = {}, {}, {}
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
    engine("./gpu", opencl)
    engine("./cpuref/simd", processor)
    for key in opencl:
        blas[key] = max([blas.get(key, 0)] + [numpy_rate(*key[1:]) for _ in range(2)])
for key, rate in blas.items():
    name = "{} n={} d={} m={} axes={}".format(*key)
    print(f"{name:40} opencl {opencl[key]:6.1f}  cpu {processor[key]:6.1f}  numpy {rate:6.1f} GFLOP/s; ratios {opencl[key] / rate:.2f} {processor[key] / rate:.2f}")
