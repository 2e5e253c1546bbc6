#!/usr/bin/python3
"""Kernel PCA beside scikit-learn's: kpca.py optdigits|letter DATA [options]

DATA holds the files of the data set: optdigits.tra.gz and optdigits.tes.gz, or
letter-recognition.data.gz (16,000 examples to fit). They are prepared as
`uma-gpu train` prepares dense data (standardize,bias,l2).

Prints one JSON object a line: seconds to fit, and to project training and test
examples, of uma-gpu and of each solver of KernelPCA, in turns; and how far each
is from the first solver that ran in float64: sines of the largest principal
angle between the projections of the training examples on the first D components,
for D where the eigenvalues leave a gap and at the end, and explained variance.
With --landmarks the peer is Nystroem followed by PCA, which draws its own
landmarks: only its time and explained variance can be compared.
"""
import argparse
import gzip
import json
import os
import subprocess
import tempfile
import time

import numpy as np


def table(path, label, last):
    rows = [l.strip().split(",") for l in gzip.open(path, "rt")]
    return np.array([r[:last] if label else r[1:] for r in rows], np.float32)


def examples(name, data):
    if name == "optdigits":
        x, xt = (table(os.path.join(data, f"optdigits.{p}.gz"), True, -1) for p in ("tra", "tes"))
    else:
        x = table(os.path.join(data, "letter-recognition.data.gz"), False, None)
        x, xt = x[:16000], x[16000:]
    mean, sd = x.mean(0, dtype=np.float64), x.std(0, dtype=np.float64)
    sd[sd == 0] = 1

    def prepared(raw):
        p = np.ones((len(raw), raw.shape[1] + 1), np.float32)
        p[:, :-1] = (raw - mean) / sd
        return (p / np.sqrt((p.astype(np.float64) ** 2).sum(1, keepdims=True))).astype(np.float32)

    return prepared(x), prepared(xt)


def uma(folder, o, gamma):
    """Fits and projects by uma-gpu kpca. The seconds to project are those of two processes, which read and write too."""
    def call(*words):
        return subprocess.run([o.program, "kpca", *words, "--device", o.device, "--quiet"], check=True, capture_output=True, text=True, cwd=folder).stdout

    choice = ["--landmarks", str(o.landmarks)] if o.landmarks else ["--landmarks", "all"]
    found = json.loads(call("fit", "--data", "x.npy", "--no-labels", "--normalize", "none", "--kernel", "rbf", "--gamma", repr(gamma) if gamma else "median",
                            "--components", str(o.components), *choice, "--basis", "b.npz", "--json"))
    start = time.perf_counter()
    for part in ("x", "xt"):
        call("transform", "--basis", "b.npz", "--data", part + ".npy", "--no-labels", "--out", part.replace("x", "z") + ".npy")
    line = {"fit_seconds": found["seconds"], "project_seconds": time.perf_counter() - start, "gamma": found["kernel"]["function"]["gamma"]}
    return line, np.load(folder + "/z.npy"), np.array(found["eigenvalues"])


def peer(solver, x, xt, o, gamma):
    from sklearn.decomposition import PCA, KernelPCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    name, _, kind = solver.partition("/")
    kind = kind or "float64"
    x, xt = x.astype(kind), xt.astype(kind)
    if o.landmarks:
        p = PCA(o.components, svd_solver=name, random_state=1)
        model = make_pipeline(Nystroem(kernel="rbf", gamma=gamma, n_components=o.landmarks, random_state=1), p)
    else:
        model = p = KernelPCA(o.components, kernel="rbf", gamma=gamma, eigen_solver=name, random_state=1)
    start = time.perf_counter()
    model.fit(x)
    fitted = time.perf_counter()
    z = model.transform(x)
    model.transform(xt)
    done = time.perf_counter()
    values = p.singular_values_ ** 2 if o.landmarks else p.eigenvalues_
    return {"solver": solver, "fit_seconds": fitted - start, "project_seconds": done - fitted}, z, values


def angle(z, truth, d):
    q, r = (np.linalg.qr(a[:, :d].astype(np.float64))[0] for a in (z, truth))
    return float(np.linalg.norm(q - r @ (r.T @ q), 2))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("name", choices=["optdigits", "letter"])
    a.add_argument("data")
    a.add_argument("--program", default="build/uma-gpu", type=os.path.abspath)
    a.add_argument("--gamma", type=float, help="default: that of the program, 1 / median squared distance")
    a.add_argument("--components", type=int, default=640)
    a.add_argument("--landmarks", type=int, default=0)
    a.add_argument("--device", default="cpu")
    a.add_argument("--solvers", default="dense,dense/float32,arpack,randomized")
    a.add_argument("--runs", type=int, default=1)
    o = a.parse_args()
    x, xt = examples(o.name, o.data)
    with tempfile.TemporaryDirectory() as folder:
        np.save(folder + "/x.npy", x)
        np.save(folder + "/xt.npy", xt)
        gamma, truth, values, cuts = o.gamma, None, None, []
        for run in range(o.runs):
            found, z, w = uma(folder, o, gamma or 0)
            gamma = gamma or found["gamma"]
            results = [({"solver": "uma-gpu", **found}, z, w)]
            for solver in o.solvers.split(","):
                results.append(peer(solver, x, xt, o, gamma))
                if truth is None and not o.landmarks:
                    truth, values = results[-1][1:]
                    # The largest gap among the last 20 and the end itself.
                    cuts = [int(len(values) - 20 + np.argmax(values[-20:-1] - values[-19:])) + 1, len(values)]
            for line, z, w in results:
                line["total_seconds"] = line["fit_seconds"] + line["project_seconds"]
                line["variance"] = float(w.sum())
                if truth is not None:
                    line["angles"] = {str(d): angle(z, truth, d) for d in cuts}
                    line["variance_off"] = float(w.sum() / values.sum() - 1)
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
