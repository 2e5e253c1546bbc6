#!/usr/bin/python3
"""Writes coefficients.csv: what scikit-learn's online learners make of 60 examples in 5 passes.

A line is a name, the number of classes, then the coefficients, row-major: of two classes those
of the second, else one row for each class. The examples are made in sklearn_test.go too.
"""
import warnings

import numpy as np
import sklearn
from sklearn.linear_model import PassiveAggressiveClassifier, Perceptron, SGDClassifier

warnings.simplefilter("ignore")
i, j = np.meshgrid(np.arange(60), np.arange(6), indexing="ij")
x = ((i * 7 + j * 13 + i * j * 5 + i * i) % 17 - 8) / 8
side = x[:, 0] + x[:, 1] / 2 - x[:, 3]
plain = dict(fit_intercept=False, shuffle=False, tol=None, max_iter=5)
step = dict(loss="perceptron", learning_rate="constant", eta0=1, penalty=None)
learners = {
    "perceptron": Perceptron(**plain),
    "perceptron balanced": Perceptron(class_weight="balanced", **plain),
    "perceptron average": SGDClassifier(average=True, **step, **plain),
    "pa1": PassiveAggressiveClassifier(C=0.3, loss="hinge", **plain),
    "pa2": PassiveAggressiveClassifier(C=0.3, loss="squared_hinge", **plain),
    "pa1 average": PassiveAggressiveClassifier(C=0.3, loss="hinge", average=True, **plain),
    "pa2 average": PassiveAggressiveClassifier(C=0.3, loss="squared_hinge", average=True, **plain),
}
with open("coefficients.csv", "w") as f:
    print(f"# scikit-learn {sklearn.__version__}, by coefficients.py", file=f)
    for q in 2, 3:
        y = (side > 0).astype(int) if q == 2 else np.digitize(side, [-0.5, 0.5])
        y = np.where(np.arange(60) % 7 == 3, (y + 1) % q, y)
        for name, m in learners.items():
            if q == 3 and "balanced" in name:
                continue  # of one-versus-rest, weights of the rest are 1 here: another learner
            print(name, q, *m.fit(x, y).coef_.ravel(), sep=",", file=f)
