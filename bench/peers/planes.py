#!/usr/bin/python3
"""Cutting planes of learner svm beside descent in the dual: planes.py UMA-GPU DATA [SET...]

The sets and costs of svm.py, the hinge loss. Descent has a tolerance of 0.01, cutting planes 0.01 and 0.001, and as
many steps as they want. Prints a line of Markdown for each: how far the objective is above that of descent, as a share
of it; the steps, each a plane of every class that is not done; seconds of one processor, and those of descent.
RUNS as for svm.py.
"""
import json
import os
import sys
import tempfile
import zipfile

import numpy as np
import svm


def main(program, source, *names):
    with tempfile.TemporaryDirectory() as folder:
        for name in names or svm.COSTS:
            data, cost = svm.write(name, source, folder), svm.COSTS[name]
            x, y = svm.read(data)
            for what, solver, flags in svm.SOLVERS[1:]:
                def learn(*more):
                    w, seconds = svm.own(program, data, folder, flags, cost, *more)
                    w = np.pad(w, ((0, 0), (0, x.shape[1] - w.shape[1])))
                    return svm.objective(x, y, w, solver, float(cost)), seconds

                ready = min(learn(1, "--max-steps", "0")[1] for _ in range(svm.RUNS))
                best, least = min(learn(0.01) for _ in range(svm.RUNS))
                for tolerance in 0.01, 0.001:
                    more = "--solver", "planes", "--max-steps", "5000"
                    found, seconds = min(learn(tolerance, *more) for _ in range(svm.RUNS))
                    with zipfile.ZipFile(os.path.join(folder, "own.npz")) as model:
                        steps = json.loads(model.read("meta.json"))["steps"]
                    print(f"| {name} | {what} | {tolerance} | {(found - best) / best:+.1e} | {steps} | {seconds - ready:.1f} | "
                          f"{least - ready:.1f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
