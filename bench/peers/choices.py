#!/usr/bin/python3
"""Ways to stand for class means that uma-gpu does not have, beside herding: choices.py SET SOURCE TIMES ATOMS [SEEDS]

SET is letter (SOURCE: letter-recognition.data.gz) or fashion (SOURCE: the folder of Fashion-MNIST); gamma is TIMES times 1 /
the median squared distance. 15,000 examples train, ATOMS of them stand for all, each class's share. Kernel thinning (Dwivedi
and Mackey 2021): halving by the self-balancing walk as often as goes (split), of all coresets the nearest, and a pass in
which each atom gives way to the example by which the mean comes nearest (swap), which herding and chance can have too.
Then random Fourier features, with as many products an example as the atoms have, plain and orthogonal (Yu et al. 2016).
Prints, of SEEDS (2) seeds: distance from the class means in feature space with the choice's own weights, worst class and
mean, and with optimal ones in the class; test error with own weights, and with those of the span of all atoms.
"""
import csv
import gzip
import sys

import numpy as np


def letter(path):
    rows = list(csv.reader(gzip.open(path, "rt")))
    y = np.array([ord(r[0]) - 65 for r in rows])
    x = np.array([[float(v) for v in r[1:]] for r in rows], np.float32)
    return x[:15000], y[:15000], x[15000:], y[15000:]


def fashion(folder):
    found = []
    for part, n in ("train", 15000), ("t10k", 5000):
        with gzip.open(f"{folder}/{part}-images-idx3-ubyte.gz") as f:
            found.append(np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 784)[:n].astype(np.float32))
        with gzip.open(f"{folder}/{part}-labels-idx1-ubyte.gz") as f:
            found.append(np.frombuffer(f.read(), np.uint8, offset=8)[:n].astype(int))
    return found


def squared(a, b):
    return np.maximum(0, (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * (a @ b.T))


class Class:
    """One class: kernel values, the numbers of its mean, and ways to choose k examples of it."""

    def __init__(self, values, k):
        self.K, self.t, self.k = values, values.mean(1), k
        self.even = np.full(k, 1 / k)

    def distance(self, a, w):
        return np.sqrt(max(0, self.t.mean() - 2 * w @ self.t[a] + w @ self.K[np.ix_(a, a)] @ w))

    def optimal(self, a):
        a = np.unique(a)
        return self.distance(a, np.linalg.solve(self.K[np.ix_(a, a)] + 1e-7 * np.eye(len(a)), self.t[a]))

    def uniform(self, rng):
        return rng.permutation(len(self.K))[:self.k]

    def herding(self, _):
        sums, chosen = np.zeros(len(self.K)), []
        for s in range(self.k):
            chosen.append(int((self.t - sums / (s + 1)).argmax()))
            sums += self.K[chosen[-1]]
        return np.array(chosen)

    def split(self, rng):
        rounds = max(0, int(np.log2(len(self.K) / self.k)))
        sets = [rng.permutation(len(self.K))[:self.k * 2 ** rounds]]
        for _ in range(rounds):
            sets = [half for rows in sets for half in self.halve(rows, rng)]
        return min(sets, key=lambda a: self.distance(a, self.even))

    def halve(self, rows, rng):
        """Pairs of examples, one of each for each half: the likelier the sign, the shorter the halves' difference."""
        k, n = self.K[np.ix_(rows, rows)], len(rows)
        difference, sigma, first = np.zeros(n), 0.0, []
        for i in range(0, n, 2):
            b2 = max(1e-12, k[i, i] + k[i + 1, i + 1] - 2 * k[i, i + 1])
            a = max(np.sqrt(b2) * sigma * np.sqrt(2 * np.log(4 * n)), b2)
            sigma = np.sqrt(sigma ** 2 + max(0, b2 * (1 + (b2 - 2 * a) * sigma ** 2 / a ** 2)))
            plus = rng.random() < min(1, max(0, 0.5 * (1 - (difference[i] - difference[i + 1]) / a)))
            difference += (k[i] - k[i + 1]) if plus else (k[i + 1] - k[i])
            first.append(i if plus else i + 1)
        first = np.array(first)
        return rows[first], rows[first ^ 1]

    def swap(self, a):
        a, sums = a.copy(), self.K[a].sum(0)
        for j in range(self.k):
            sums -= self.K[a[j]]
            a[j] = int(((2 * sums + self.K.diagonal()) / self.k ** 2 - 2 * self.t / self.k).argmin())
            sums += self.K[a[j]]
        return a


def orthogonal(count, d, rng):
    blocks = [np.linalg.qr(rng.normal(size=(d, d)))[0] * np.linalg.norm(rng.normal(size=(d, d)), axis=1)[:, None]
              for _ in range(0, count, d)]
    return np.concatenate(blocks)[:count]


def main(name, source, times, atoms, seeds=2):
    x, y, xt, yt = {"letter": letter, "fashion": fashion}[name](source)
    largest = np.maximum(np.abs(x).max(0), 1e-9)
    x, xt, atoms, seeds = x / largest, xt / largest, int(atoms), int(seeds)
    some = x[np.random.default_rng(0).permutation(len(x))[:1000]]
    gamma = float(times) / np.median(squared(some, some)[np.triu_indices(1000, 1)])
    kernel = lambda a, b: np.exp(-gamma * squared(a, b))
    q = y.max() + 1
    ones = np.zeros((len(y), q), np.float32)
    ones[np.arange(len(y)), y] = 1 / len(y)
    means = lambda z: np.concatenate([kernel(z[at:at + 1000], x) @ ones for at in range(0, len(z), 1000)])
    at_train, at_test = means(x), means(xt)
    wrong = lambda scores: float((scores.argmax(1) != yt).mean())
    print(f"{name}, gamma {times} / median, all {len(x)}: test {wrong(at_test):.4f}")
    rows = [np.flatnonzero(y == c) for c in range(q)]
    classes = [Class(kernel(x[r], x[r]).astype(np.float64), max(1, round(atoms * len(r) / len(y)))) for r in rows]
    ways = {way: getattr(Class, way) for way in ("uniform", "herding", "split")}
    ways |= {f"{way} + swap": lambda c, rng, f=f: c.swap(f(c, rng)) for way, f in list(ways.items())}
    for way, choose in ways.items():
        found = []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            chosen = [choose(c, rng) for c in classes]
            far = [c.distance(a, c.even) for c, a in zip(classes, chosen)]
            own = np.stack([kernel(xt, x[r[a]]).mean(1) * len(r) for r, a in zip(rows, chosen)], 1)
            all_atoms = np.unique(np.concatenate([r[a] for r, a in zip(rows, chosen)]))
            ridge = 1e-6 * np.eye(len(all_atoms))
            weights = np.linalg.solve(kernel(x[all_atoms], x[all_atoms]).astype(np.float64) + ridge, at_train[all_atoms])
            found.append((max(far), np.mean(far), np.mean([c.optimal(a) for c, a in zip(classes, chosen)]), wrong(own),
                          wrong(kernel(xt, x[all_atoms]) @ weights)))
        print("%-14s own %.4f worst, %.4f mean, optimal %.4f; test own %.4f, optimal %.4f" % (way, *np.mean(found, 0)))
    for way in ("plain", "orthogonal"):
        found = []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            w = rng.normal(size=(atoms, x.shape[1])) if way == "plain" else orthogonal(atoms, x.shape[1], rng)
            w = (w * np.sqrt(2 * gamma)).astype(np.float32)
            map_ = lambda z: np.concatenate([np.cos(z @ w.T), np.sin(z @ w.T)], 1) / np.sqrt(atoms)
            found.append(wrong(map_(xt) @ (map_(x).T @ ones)))
        print(f"Fourier features, {way}, {atoms} frequencies: test {np.mean(found):.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
