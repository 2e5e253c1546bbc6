#!/usr/bin/python3
"""Wrong labels that uma-gpu issues finds, beside cleanlab's rule (prune by noise rate with the confident joint).

usage: issues.py UMA_GPU DATA [SET...]

Sets of cases.py under their noises; the table of docs/judging.md.
"""
import csv
import os
import sys
import tempfile

import numpy as np
from cases import NOISES, OWN, Case

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/peers")
from clean import prune, scores  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402


def found(case, *flags):
    """Returns which labels are issues."""
    case.call("issues", *case.train, "--out", "issues.csv", *flags)
    rows = sorted(csv.DictReader(open(case.folder + "/issues.csv")), key=lambda r: int(r["example"]))
    return np.array([r["is_label_issue"].lower() in ("true", "1") for r in rows])


def main():
    program, data, *only = sys.argv[1:]
    print("| precision / recall | `issues` | with C | cleanlab, logistic | cleanlab, k-NN |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in only or ["digits", "drybean", "optdigits", "letter", "music_genre"]:
            for noise in NOISES if name not in OWN else ["people"]:
                case = Case(program, folder, name, noise, data)
                x, y, right = case.examples()
                q = int(max(y)) + 1
                rules = [found(case), found(case, "--confusion", case.true),
                         prune(x, y, q, make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))),
                         prune(x, y, q, KNeighborsClassifier(10))]
                cells = [f"{s['precision']:.3f} / {s['recall']:.3f}" for s in (scores(flagged, y != right) for flagged in rules)]
                print(f"| {name}, {noise} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
