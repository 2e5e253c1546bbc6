#!/usr/bin/env python3
"""Memory, traffic and time of a step of UMA and of softmax, and of the fits of kernel means and of
kernel PCA, on many ranks, by an alpha-beta model:

    bench/scale.py --examples 1e9 --features 1e4 --classes 10 --ranks 8,64,1024

docs/scale.md has the bytes that an operation sends, as TestTraffic counts them."""
import argparse
import math

ERRORS, COMPONENTS = 4096, 500  # examples by which a mean is judged; components of kernel PCA


def size(n):
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} PB"


def all_reduce(m, k, n):
    """Seconds to sum n bytes of k ranks, and to compare the calls before, by halving and doubling."""
    return 4 * math.log2(k) * m.alpha + 2 * (k - 1) / k * n * m.beta if k > 1 else 0


def in_order(m, k, n):
    """Bytes and seconds to add n bytes in the order of the examples: 8k groups go from rank to rank."""
    stages, slots = 9 * k - 1, n / 8
    return stages * slots, stages * all_reduce(m, k, slots)


def rows(m, k):
    """(name, memory of a rank, bytes sent, seconds of reading, seconds of sums) on k ranks."""
    n, d, q, a = m.examples, m.features, m.classes, m.atoms
    x = 4 * n * d
    for name, sums, resides in (
        ("UMA", (16, 16 * q * q + 24, 8 * q * q * d + 16), 12 * q * q * d + 8 * n),
        ("softmax", (8 * q * d + 32,), 8 * q * d + 8 * n),
    ):
        yield name, x / k + resides, sum(sums), x / k / m.read, sum(all_reduce(m, k, b) for b in sums)
    for name, products, ordered, shared, resides in (
        ("kernel mean", 2 * n * d * (2 * a + ERRORS), 4 * q * (a + ERRORS), 4 * n * q, 4 * a * d + 12 * a * a + 8 * n),
        ("kernel PCA", 4 * n * d * a + 2 * n * a * (a + COMPONENTS), 4 * a * a, 4 * n * a, 4 * a * d + 28 * a * a + 8 * n),
    ):
        sent, seconds = in_order(m, k, ordered)
        atoms = 4 * a * d
        yield (name + ", once", (x + shared) / k + resides, sent + atoms, products / k / m.flops,
               seconds + atoms * m.beta)


def main():
    p = argparse.ArgumentParser()
    for name, value, what in (
        ("examples", 1e9, "number of examples"), ("features", 1e4, "number of features"),
        ("classes", 10, "number of classes"), ("atoms", 1e4, "atoms of a kernel mean, or landmarks of kernel PCA"),
        ("alpha", 2e-6, "seconds that a message takes besides its bytes"), ("beta", 1 / 12.5e9, "seconds a byte takes"),
        ("read", 200e9, "bytes of examples that a rank reads in a second"),
        ("flops", 1e12, "operations of a rank in a second, for kernel values"),
    ):
        p.add_argument("--" + name, type=float, default=value, help=what)
    p.add_argument("--ranks", default="8,64,1024", help="numbers of ranks")
    m = p.parse_args()
    print("| ranks | learner | memory of a rank | summed in a step | reading | sums | a step | of k times one |")
    print("|---|---|---|---|---|---|---|---|")
    for k in map(int, m.ranks.split(",")):
        for name, memory, sent, work, sums in rows(m, k):
            print(f"| {k} | {name} | {size(memory)} | {size(sent)} | {work:.3g} s | {sums:.3g} s | {work + sums:.3g} s "
                  f"| {100 * work / (work + sums):.3g} % |")
    print(f"\nclass sums take as long as reading where a rank has fewer than "
          f"{4 * m.classes ** 2 * m.beta * m.read:.3g} examples")


main()
