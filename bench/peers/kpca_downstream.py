#!/usr/bin/python3
"""UMA on kernel principal components of uma-gpu and of scikit-learn:
kpca_downstream.py optdigits|letter DATA [options]

DATA and the preparation are those of kpca.py; of letter the first --examples are
fitted to, and the last 4,000 are the test. The components of both programs go
through the same `uma-gpu train` (--normalize standardize,l2), with right labels
and with 40 % pairwise noise. Prints one JSON object a line: test errors, and by
how many points they differ. Under noise UMA makes something else of the least
change, so there is a control: scikit-learn's components, each changed by about a
millionth of the largest of its column.
"""
import argparse
import gzip
import json
import os
import subprocess
import tempfile

import numpy as np
from kpca import examples, uma


def labels(name, data):
    def column(path, k):
        return np.array([l.strip().split(",")[k] for l in gzip.open(path, "rt")])

    if name == "optdigits":
        return [column(os.path.join(data, f"optdigits.{p}.gz"), -1).astype(np.int64) for p in ("tra", "tes")]
    y = np.array([ord(c) - ord("A") for c in column(os.path.join(data, "letter-recognition.data.gz"), 0)])
    return y[:16000], y[16000:]


def error(program, folder, z, zt, y, yt, noise, seed):
    def call(*arguments):
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True, cwd=folder).stdout

    np.savez(folder + "/train.npz", X=z.astype(np.float32), y=y)
    np.savez(folder + "/test.npz", X=zt.astype(np.float32), y=yt)
    train = ["train", "--learner", "uma", "--data", "train.npz"]
    if noise:
        call("confusion", "inject", "--data", "train.npz", "--pairwise", str(noise), "--seed", str(seed), "--out", "noisy.npz", "--write-confusion", "C.csv")
        train = ["train", "--learner", "uma", "--data", "noisy.npz", "--confusion", "C.csv"]
    call(*train, "--normalize", "standardize,l2", "--device", "cpu", "--model", "m.npz")
    return json.loads(call("eval", "--model", "m.npz", "--data", "test.npz", "--device", "cpu", "--json"))["error_rate"]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("name", choices=["optdigits", "letter"])
    a.add_argument("data")
    a.add_argument("--program", default="build/uma-gpu", type=os.path.abspath)
    a.add_argument("--components", type=int, default=640)
    a.add_argument("--examples", type=int, default=4000)
    a.add_argument("--gamma", type=float, default=0.5)
    a.add_argument("--seeds", type=int, default=5, help="of the noise")
    a.add_argument("--device", default="cpu")
    o = a.parse_args()
    o.landmarks, o.choice = 0, "uniform"
    (x, xt), (y, yt) = examples(o.name, o.data), labels(o.name, o.data)
    if o.name == "letter":
        x, y = x[: o.examples], y[: o.examples]
    from sklearn.decomposition import KernelPCA

    with tempfile.TemporaryDirectory() as folder:
        np.save(folder + "/x.npy", x)
        np.save(folder + "/xt.npy", xt)
        _, z, _ = uma(folder, o, o.gamma)
        zt = np.load(folder + "/zt.npy")
        peer = KernelPCA(o.components, kernel="rbf", gamma=o.gamma, eigen_solver="dense").fit(x.astype(np.float64))
        p, pt = peer.transform(x.astype(np.float64)), peer.transform(xt.astype(np.float64))
        program = o.program
        rng = np.random.default_rng(1)

        def changed(a):
            return a + 1e-6 * np.abs(p).max(0) * rng.standard_normal(a.shape)

        arms = {"error": (z, zt), "error_sklearn": (p, pt), "error_sklearn_changed": (changed(p), changed(pt))}
        for noise, seed in [(0, 0)] + [(0.4, s + 1) for s in range(o.seeds)]:
            line = {"data": o.name, "examples": len(x), "components": o.components, "gamma": o.gamma, "pairwise_noise": noise, "seed": seed}
            for arm, c in arms.items():
                line[arm] = error(program, folder, *c, y, yt, noise, seed)
            line["points_apart"] = 100 * (line["error"] - line["error_sklearn"])
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
