#!/usr/bin/python3
"""Time of scikit-learn's linear learners to a stated test error: sklearn_linear.py DIR y|noisy ERROR

Passes over the training examples are made, with all processors, until the
error on the test examples is at most ERROR, at most PASSES of them. Seconds are
those of training alone. Prints one JSON object.
"""
import json
import sys
import time

import numpy as np
import sklearn
from sklearn.linear_model import Perceptron, SGDClassifier

PASSES = 12


def until(learner, x, y, xt, yt, wanted):
    seconds, best = 0.0, 1.0
    rng = np.random.default_rng(1)
    for done in range(1, PASSES + 1):
        order = rng.permutation(len(y)) if done > 1 else slice(None)
        start = time.perf_counter()
        learner.partial_fit(x[order], y[order], classes=np.unique(y))
        seconds += time.perf_counter() - start
        best = min(best, float((learner.predict(xt) != yt).mean()))
        if best <= wanted:
            break
    return {"seconds": seconds, "passes": done, "error": best, "reached": best <= wanted}


def main(folder, labels, wanted):
    x, y, xt, yt = (np.load(f"{folder}/{name}.npy") for name in ("x", labels, "xt", "yt"))
    found = {"sklearn": sklearn.__version__}
    for name, learner in [("Perceptron", Perceptron(n_jobs=-1, random_state=1)), ("SGDClassifier", SGDClassifier(n_jobs=-1, random_state=1))]:
        found[name] = until(learner, x, y, xt, yt, float(wanted))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
