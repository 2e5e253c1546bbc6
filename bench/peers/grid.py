#!/usr/bin/python3
"""A grid of 100 fits beside scikit-learn's GridSearchCV: grid.py UMA_GPU DATA [ROWS]

DATA is a folder with x.npy and y.npy as prepare.py writes them, of which the first ROWS (all) are used.
Both programs train PA-I with twenty aggressivenesses, five passes each, on four of five parts, and judge
on the fifth; one core is used, the last that there is. Seconds are those of the whole: of uma-gpu with its
start and reading, of GridSearchCV without. Prints one JSON object.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings


def main(uma, data, rows="0"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before numpy counts cores
    import numpy as np
    from sklearn.linear_model import PassiveAggressiveClassifier
    from sklearn.model_selection import GridSearchCV, KFold

    warnings.filterwarnings("ignore")
    x, y = np.load(f"{data}/x.npy"), np.load(f"{data}/y.npy")
    if int(rows):
        x, y = x[: int(rows)], y[: int(rows)]
    with tempfile.TemporaryDirectory() as folder:
        np.save(folder + "/x.npy", x)
        np.save(folder + "/y.npy", y)
        start = time.perf_counter()
        subprocess.run([uma, "compare", "--data", folder + "/x.npy", "--labels", folder + "/y.npy", "--normalize", "none", "--device", "cpu",
                        "--quiet", "--try", "--learner pa1 --epochs 5 --multiclass ovr", "--grid", "aggressiveness=0.001..1:log20",
                        "--folds", "5", "--out", folder + "/table.csv"], check=True, capture_output=True)
        ours = time.perf_counter() - start
        best = open(folder + "/table.csv").read().splitlines()[:2]
    learner = PassiveAggressiveClassifier(max_iter=5, tol=None, average=True, fit_intercept=False, random_state=1)
    grid = GridSearchCV(learner, {"C": np.geomspace(0.001, 1, 20)}, cv=KFold(5, shuffle=True, random_state=1), refit=False)
    start = time.perf_counter()
    grid.fit(x.astype(np.float64), y)
    other = time.perf_counter() - start
    return {"fits": 100, "rows": len(y), "seconds": ours, "sklearn_seconds": other, "times": other / ours, "best": best,
            "sklearn_best": [grid.best_params_["C"], grid.best_score_]}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
