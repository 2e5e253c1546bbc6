"""Measures uma-gpu clean: the test error of its model beside models that know no confusion matrix, on tables whose labels
are made wrong in four ways, with and without checked rows; the suspects beside cleanlab's rule.

clean.py UMA-GPU DATA FOLDER [--sets a,b] [--noises a,b] [--checked 0,50] [--rows N] writes FOLDER/clean.jsonl, a line for
each run, and prints a table.
"""
import argparse
import csv
import gzip
import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

NOISES = ("none", "random", "pairwise", "example")


def lines(path, names=None, header=0):
    with gzip.open(path, "rt") as f:
        rows = [[v.strip() for v in r] for r in csv.reader(f) if r and not r[0].startswith("@")]
    return (names or rows[0]), rows[1 if names is None else header:]


def arrays(x, y):
    return [f"f{j}" for j in range(x.shape[1])] + ["label"], [[f"{v:.7g}" for v in r] + [f"c{k}"] for r, k in zip(x, y)]


def generated(name, n=2000):
    """Tables with what ordinary ones have: holes, dates, ids, words, text. Classes are 0, 1, 2."""
    rng = np.random.default_rng(len(name))
    k = rng.integers(0, 3, n)
    a, b = rng.normal(k, 0.7), rng.normal((k == 1) * 2.0, 1)
    if name == "holes":
        cell = lambda v: "" if rng.random() < 0.15 else f"{v:.3f}"
        return ["a", "b", "c", "label"], [[cell(u), cell(v), cell(rng.normal()), f"k{c}"] for u, v, c in zip(a, b, k)]
    if name == "dates":
        day = lambda c: f"20{rng.integers(10, 24)}-{1 + (4 * c + rng.integers(0, 5)) % 12:02d}-{rng.integers(1, 29):02d}"
        return ["id", "day", "a", "label"], [[f"X{i:05d}", day(c), f"{u:.3f}", f"k{c}"] for i, (u, c) in enumerate(zip(a, k))]
    words = [["price", "market", "shares"], ["match", "goal", "team"], ["film", "music", "actor"]]
    noise = "the of and to in it was for on with as at by".split()
    text = lambda c: " ".join(rng.choice(words[c] if rng.random() < 0.25 else noise) for _ in range(12))
    return ["id", "story", "label"], [[str(i), text(c), f"k{c}"] for i, c in enumerate(k)]


def table(name, data):
    """Returns the columns and the rows of a set, the right label last."""
    aqua = os.path.join(data, "aqua")
    if name == "adult":
        names = ("age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
                 "capital-loss hours-per-week native-country label").split()
        _, rows = lines(f"{aqua}/adult.data.gz", names)
        return names, [["" if v == "?" else v for v in r] for r in rows]
    if name == "car":
        return lines(f"{aqua}/car.data.gz", "buying maint doors persons lug_boot safety label".split())
    if name == "compas":
        names, rows = lines(f"{aqua}/compas-scores-two-years.csv.gz")
        keep = [names.index(c) for c in ("sex", "age", "race", "juv_fel_count", "juv_misd_count", "priors_count", "c_charge_degree",
                                         "two_year_recid")]
        return [names[j] for j in keep[:-1]] + ["label"], [[r[j] for j in keep] for r in rows]
    if name == "drybean":
        with gzip.open(f"{aqua}/dry-bean.csv.gz", "rt") as f:
            rows = [r for r in csv.reader(f) if r and not r[0].startswith("@")]
        return rows[0][:-1] + ["label"], rows[1:]
    if name in ("letter", "optdigits", "banana", "vehicle"):
        folder = os.environ["PREPARED"] + "/" + name
        x = np.concatenate([np.load(f"{folder}/x.npy"), np.load(f"{folder}/xt.npy")])
        return arrays(x, np.concatenate([np.load(f"{folder}/y.none.npy"), np.load(f"{folder}/yt.npy")]))
    loaders = {"cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
    if name in loaders:
        b = loaders[name]()
        return arrays(b.data, b.target)
    return generated(name)


SETS = "adult,car,compas,drybean,letter,optdigits,banana,vehicle,cancer,digits,holes,dates,texts".split(",")


def features(names, train, test):
    """Returns the features of both as a pipeline that people write has them."""
    take = lambda rows, j: [r[j] for r in rows]
    make, cols = [], []
    for j, name in enumerate(names[:-1]):
        cells = [v for v in take(train, j) if v]
        try:
            [float(v) for v in cells]
            kind = "number"
        except ValueError:
            kind = "text" if np.mean([v.count(" ") for v in cells]) > 3 else "word"
        if kind == "word" and len(set(cells)) > 0.5 * len(cells) or name == "id":
            continue
        if kind == "number":
            pipe = make_pipeline(SimpleImputer(), StandardScaler())
            to = lambda rows: np.array([[float(v) if v else np.nan] for v in take(rows, j)])
        elif kind == "word":
            pipe, to = OneHotEncoder(handle_unknown="ignore"), lambda rows: np.array(take(rows, j), dtype=object)[:, None]
        else:
            pipe, to = TfidfVectorizer(), lambda rows: take(rows, j)
        a, b = pipe.fit_transform(to(train)), pipe.transform(to(test))
        make.append(a if isinstance(a, np.ndarray) else a.toarray())
        cols.append(b if isinstance(b, np.ndarray) else b.toarray())
    return np.hstack(make), np.hstack(cols)


def corrupt(y, q, noise, x, rng):
    """Returns noisy labels. "example": the nearer to a random plane, the more often wrong, 30 % of all."""
    y = y.copy()
    if noise == "none":
        return y
    rate = np.full(len(y), {"random": 0.2, "pairwise": 0.4, "example": 0.3}[noise])
    if noise == "example":
        s = x @ rng.normal(size=x.shape[1])
        rate = np.clip(0.6 * np.argsort(np.argsort(s)) / len(y), 0, 1)
    wrong = rng.random(len(y)) < rate
    if noise == "random":
        y[wrong] = (y[wrong] + rng.integers(1, q, wrong.sum())) % q
    else:
        y[wrong] = (y[wrong] + 1) % q
    return y


def prune(x, y, q, model):
    """cleanlab's rule, prune by noise rate with the confident joint: returns which labels are issues, and those it counts."""
    p = cross_val_predict(model, x, y, cv=5, method="predict_proba")
    if p.shape[1] < q:
        return np.zeros(len(y), bool)
    t = np.array([p[y == k, k].mean() for k in range(q)])
    above = np.where(p >= t - 1e-6, p, -1)
    joint = np.zeros((q, q))
    for i, k in enumerate(y):
        if above[i].max() > 0:
            joint[k, above[i].argmax()] += 1
    np.fill_diagonal(joint, np.maximum(joint.diagonal(), 1))
    joint *= (np.bincount(y, minlength=q) / joint.sum(1))[:, None]
    bad = np.zeros(len(y), bool)
    for k in range(q):
        mine = np.flatnonzero(y == k)
        if len(mine) <= 5:
            continue
        for j in range(q):
            if j != k and joint[k, j] >= 0.5:
                margin = p[mine, j] - p[mine, k]
                n = min(len(mine) - 5, int(round(joint[k, j])))
                bad[mine[np.argsort(-margin)[:n]]] = True
    return bad


def error(model, x, y, xt, yt):
    return float(np.mean(model.fit(x, y).predict(xt) != yt)) if len(set(y)) > 1 else float(np.mean(yt != y[0]))


def scores(flagged, wrong):
    hit = np.sum(flagged & wrong)
    return {"flagged": int(flagged.sum()), "precision": float(hit / max(1, flagged.sum())), "recall": float(hit / max(1, wrong.sum()))}


def run(o, name, noise, checked):
    rng = np.random.default_rng(1)
    names, rows = table(name, o.data)
    order = rng.permutation(len(rows))
    n = min(o.rows, 2 * len(rows) // 3)
    train, test = [rows[i] for i in order[:n]], [rows[i] for i in order[n:n + 4000]]
    classes = sorted({r[-1] for r in rows})
    code = {c: k for k, c in enumerate(classes)}
    right, yt = np.array([code[r[-1]] for r in train]), np.array([code[r[-1]] for r in test])
    x, xt = features(names, train, test)
    y, q = corrupt(right, len(classes), noise, x, rng), len(classes)
    known = rng.permutation(n)[:checked]
    folder = os.path.join(o.folder, f"{name}.{noise}.{checked}")
    os.makedirs(folder, exist_ok=True)

    def write(file, head, body):
        with open(os.path.join(folder, file), "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([head] + body)
        return os.path.join(folder, file)

    data = write("train.csv", names, [r[:-1] + [classes[k]] for r, k in zip(train, y)])
    held = write("test.csv", names, test)
    flags = ["--text", "story"] if "story" in names else []
    flags += ["--id-column", "id"] if "id" in names else []
    flags += ["--ignore-columns", "day"] if "day" in names else []
    flags += ["--categories", "doors,persons"] if name == "car" else []
    command = [o.uma, "clean", data, "--label", "label", "--device", "cpu", "--json", "--quiet", "--dir", folder + "/out"] + flags
    if checked:
        command += ["--checked", write("checked.csv", ["row", "label"], [[int(i) + o.first, classes[right[i]]] for i in sorted(known)])]
    r = {"set": name, "noise": noise, "checked": checked, "rows": n}
    began = os.times()
    done = subprocess.run(command, capture_output=True, text=True)
    used = os.times()
    r["seconds"] = used.children_user - began.children_user
    if done.returncode:
        r["failed"] = done.stderr
        return r
    said = json.loads(done.stdout)
    r["chosen"], r["share"], r["expected"] = said["chosen"], said["wrong_labels"], said["expected_error"]["value"]
    r["candidates"] = said["candidates"]
    judged = subprocess.run([o.uma, "eval", "--json", "--quiet", "--device", "cpu", "--model", folder + "/out/model.npz", "--data", held,
                             "--label-column", "label"] + (["--id-column", "id"] if "id" in names else []), capture_output=True, text=True)
    r["clean"] = json.loads(judged.stdout)["error_rate"] if not judged.returncode else judged.stderr
    with open(folder + "/out/rows.csv") as f:
        flagged = np.array([line["wrong"] == "True" for line in csv.DictReader(f)])
    fair = np.ones(n, bool)
    fair[known] = False
    r["suspects"] = scores(flagged[fair], (y != right)[fair])
    model = LogisticRegression(max_iter=500)
    mended = y.copy()
    mended[known] = right[known]
    r["sklearn"] = error(model, x, mended, xt, yt)
    bad = prune(x, y, q, model)
    bad[known] = False
    r["cleanlab"] = error(model, x[~bad], mended[~bad], xt, yt)
    r["knn"] = scores(prune(x, y, q, KNeighborsClassifier(10))[fair], (y != right)[fair])
    if checked:
        r["alone"] = error(model, x[known], right[known], xt, yt)
    plain = subprocess.run([o.uma, "train", "--json", "--quiet", "--device", "cpu", "--model", folder + "/plain.npz", "--data", data,
                            "--label-column", "label", "--missing", "indicator"] + flags, capture_output=True, text=True)
    if not plain.returncode:
        judged = subprocess.run([o.uma, "eval", "--json", "--quiet", "--device", "cpu", "--model", folder + "/plain.npz", "--data", held,
                                 "--label-column", "label"] + (["--id-column", "id"] if "id" in names else []), capture_output=True, text=True)
        r["plain"] = json.loads(judged.stdout)["error_rate"] if not judged.returncode else None
    return r


def show(all):
    print("| table | noise | checked | clean | no cleaning | scikit-learn | cleanlab | checked alone | suspects | cleanlab, k-NN | s |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    number = lambda v: f"{v:.3f}" if isinstance(v, float) else "–"
    pair = lambda s: f"{s['precision']:.2f} / {s['recall']:.2f}" if s else "–"
    ahead = []
    for r in all:
        print("|", " | ".join([r["set"], r["noise"], str(r["checked"])] + [number(r.get(k)) for k in
                              ("clean", "plain", "sklearn", "cleanlab", "alone")] + [pair(r.get("suspects")), pair(r.get("knn")),
                              f"{r['seconds']:.1f}"]), "|", r.get("chosen", r.get("failed", ""))[:60] if os.environ.get("LONG") else "")
        rivals = [r[k] for k in ("plain", "sklearn", "cleanlab", "alone") if isinstance(r.get(k), float)]
        if isinstance(r.get("clean"), float) and rivals:
            ahead.append(100 * (min(rivals) - r["clean"]))
    if ahead:
        print(f"\nAhead of the best that knows no C: mean {np.mean(ahead):.1f} points, worst {min(ahead):.1f}, behind by more than "
              f"half a point in {sum(a < -0.5 for a in ahead)} of {len(ahead)}.")


def main():
    p = argparse.ArgumentParser()
    for name in ("uma", "data", "folder"):
        p.add_argument(name)
    p.add_argument("--sets", default=",".join(SETS))
    p.add_argument("--noises", default=",".join(NOISES))
    p.add_argument("--checked", default="0,50,200")
    p.add_argument("--rows", type=int, default=2000)
    p.add_argument("--first", type=int, default=1, help="number of the first row")
    o = p.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    done = []
    with open(os.path.join(o.folder, "clean.jsonl"), "w") as f:
        for name in o.sets.split(","):
            for noise in o.noises.split(","):
                for checked in map(int, o.checked.split(",")):
                    done.append(run(o, name, noise, checked))
                    f.write(json.dumps(done[-1]) + "\n")
                    f.flush()
    show(done)


if __name__ == "__main__":
    main()
