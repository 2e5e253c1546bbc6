#!/usr/bin/python3
"""scikit-learn's logistic regression on Fashion-MNIST: sklearn_logistic.py DIR L2 ITERATIONS

The solver is lbfgs, with a limit of iterations; the bias is a column of the examples (prepare.py).
Prints one JSON object: seconds of training, iterations made, and the error on the test examples.
"""
import json
import sys
import time
import warnings

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression


def main(folder, l2, iterations):
    warnings.simplefilter("ignore")  # that it has not converged
    x, y, xt, yt = (np.load(f"{folder}/{name}.npy") for name in ("x", "y", "xt", "yt"))
    learner = LogisticRegression(C=1 / (float(l2) * len(y)), fit_intercept=False, max_iter=int(iterations))
    start = time.perf_counter()
    learner.fit(x, y)
    seconds = time.perf_counter() - start
    print(json.dumps({"sklearn": sklearn.__version__, "seconds": seconds, "steps": int(learner.n_iter_[0]),
                      "error": float((learner.predict(xt) != yt).mean())}))


if __name__ == "__main__":
    main(*sys.argv[1:])
