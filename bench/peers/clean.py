"""Measures uma-gpu clean: the test error of its model beside models that know no confusion matrix, on tables whose labels
are made wrong in four ways, with and without checked rows; the suspects beside cleanlab's rule.

clean.py UMA-GPU DATA FOLDER [--sets a,b] [--found DIR] [--noises a,b] [--checked 0,50] [--seeds 1,2] [--rows N] [--jobs N]
writes FOLDER/clean.jsonl, a line for each run, and prints tables. FOLDER/rivals keeps what the rivals said for the next call.
DIR has further tables, NAME.csv with a column "label", as bench/peers/found.R writes them; --sets then are these by default.
"""
import argparse
import csv
import gzip
import itertools
import json
import os
import subprocess
from concurrent.futures import ProcessPoolExecutor

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

NOISES = ("none", "random", "pairwise", "oneway", "example")
RIVALS = {"plain": "no cleaning", "sklearn": "logistic", "cleanlab": "logistic, cleanlab", "forest": "forest", "boosting": "boosting",
          "pruned": "boosting, cleanlab", "svc": "SVC", "alone": "checked alone"}


def lines(path, names=None):
    with gzip.open(path, "rt") as f:
        rows = [[v.strip() for v in r] for r in csv.reader(f) if r and not r[0].startswith("@")]
    return (names, rows) if names else (rows[0], rows[1:])


def unnamed(rows, label=-1):
    """Gives the columns names, and puts the label last."""
    rows = [r[:label % len(r)] + r[label % len(r) + 1:] + [r[label]] for r in rows]
    return [f"f{j}" for j in range(len(rows[0]) - 1)] + ["label"], rows


def chosen(names, rows, keep):
    """Takes columns; the last is the label."""
    at = [names.index(c) for c in keep]
    return keep[:-1] + ["label"], [[r[j] for j in at] for r in rows if r[at[-1]]]


def generated(name, n=7000):
    """Tables with what ordinary ones have: holes; dates and ids. Classes are k0, k1, k2."""
    rng = np.random.default_rng(len(name))
    k = rng.integers(0, 3, n)
    a, b = rng.normal(k, 0.7), rng.normal((k == 1) * 2.0, 1)
    if name == "holes":
        cell = lambda v: "" if rng.random() < 0.15 else f"{v:.3f}"
        return ["a", "b", "c", "label"], [[cell(u), cell(v), cell(rng.normal()), f"k{c}"] for u, v, c in zip(a, b, k)]
    day = lambda c: f"20{rng.integers(10, 24)}-{1 + (4 * c + rng.integers(0, 5)) % 12:02d}-{rng.integers(1, 29):02d}"
    return ["id", "day", "a", "b", "label"], [[f"X{i:05d}", day(c), f"{u:.3f}", f"{v:.3f}", f"k{c}"]
                                              for i, (u, v, c) in enumerate(zip(a, b, k))]


PLAIN = {  # file, lines before the data (-1: the first is a header), column of the class, columns that are names
    "penguins": ("tables/penguins.csv.gz", -1, "species", []),
    "phoneme": ("tables/phoneme.csv.gz", 0, -1, []),
    "bank": ("tables/bank.csv.gz", -1, -1, []),
    "churn": ("tables/churn.csv.gz", -1, "Exited", ["RowNumber", "CustomerId", "Surname"]),
    "german": ("tables/GermanCredit.csv.gz", -1, -1, []),
    "wine_red": ("tables/wine_red.csv.gz", 0, -1, []),
    "wine_white": ("tables/wine_white.csv.gz", 0, -1, []),
    "glass": ("small/glass.data.gz", 0, -1, ["f0"]),
    "iris": ("small/sklearn_iris.csv.gz", 1, -1, []),
    "wine": ("small/sklearn_wine_data.csv.gz", 1, -1, []),
    "zoo": ("small/zoo.csv.gz", -1, -1, ["animal", "animal_name"])}


def plain(name, data):
    """Returns a table that only needs its columns named and chosen; grades of wine are low, middle and high."""
    path, before, label, drop = PLAIN[name]
    names, rows = lines(os.path.join(data, path), ["x"])
    if before < 0:
        names, rows = rows[0], rows[1:]
        label = names[label] if label == -1 else label
        rows = [["" if v == "NA" else v for v in r] for r in rows]
        return chosen(names, rows, [c for c in names if c != label and c not in drop] + [label])
    names, rows = unnamed(rows[before:])
    if name.startswith("wine_"):
        rows = [r[:-1] + ["low" if float(r[-1]) <= 5 else "middle" if float(r[-1]) <= 6 else "high"] for r in rows]
    return chosen(names, rows, [c for c in names if c not in drop])


def table(name, data, found=None):
    """Returns the columns and the rows of a set, the right label last."""
    if name in PLAIN:
        return plain(name, data)
    if found and os.path.exists(os.path.join(found, name + ".csv")):
        with open(os.path.join(found, name + ".csv"), newline="") as f:
            rows = list(csv.reader(f))
        return chosen(*(rows[0], rows[1:]), rows[0])
    at = lambda *path: os.path.join(data, *path)
    compas = at("aqua", "compas-scores-two-years.csv.gz")
    if name == "adult":
        names, rows = lines(at("aqua", "adult.data.gz"))
        names[-1] = "label"
        return names, [["" if v == "?" else v for v in r] for r in rows]
    if name == "car":
        return lines(at("aqua", "car.data.gz"), "buying maint doors persons lug_boot safety label".split())
    if name == "compas":
        return chosen(*lines(compas), "sex age race juv_fel_count juv_misd_count priors_count c_charge_degree two_year_recid".split())
    if name == "offenders":
        return chosen(*lines(compas), ("id name sex dob age_cat race juv_fel_count juv_misd_count juv_other_count priors_count "
                                       "days_b_screening_arrest c_jail_in c_jail_out c_case_number c_offense_date c_charge_degree "
                                       "c_charge_desc in_custody score_text").split())
    if name == "drybean":
        names, rows = lines(at("aqua", "dry-bean.csv.gz"))
        return names[:-1] + ["label"], rows
    if name == "news":
        names, rows = lines(at("noisy_ag_news", "samples10000valMed.csv.gz"))
        _, more = lines(at("noisy_ag_news", "samplesTest.csv.gz"))
        topic = ("world", "sports", "business", "science")
        return ["id", "story", "label"], [[f"N{7919 * i % 100003:06d}", r[2], topic[int(r[1])]] for i, r in enumerate(rows + more)]
    if name == "banana":
        return unnamed(lines(at("banana", "banana.dat.gz"), ["x"])[1])
    if name == "letter":
        return unnamed(lines(at("letter", "letter-recognition.data.gz"), ["x"])[1], 0)
    if name == "optdigits":
        return unnamed(lines(at("optdigits", "optdigits.tra.gz"), ["x"])[1] + lines(at("optdigits", "optdigits.tes.gz"), ["x"])[1])
    if name == "music":
        names, rows = lines(at("music_genre", "music_genre_gold.csv.gz"))
        return names[:-1] + ["label"], rows + lines(at("music_genre", "music_genre_test.csv.gz"))[1]
    if name == "vehicle":
        names, rows = lines(at("small", "vehicle.csv.gz"))
        return names[:-1] + ["label"], rows
    if name == "cancer":
        b = load_breast_cancer()
        return unnamed([[f"{v:.7g}" for v in x] + [f"c{k}"] for x, k in zip(b.data, b.target)])
    return generated(name)


SETS = [*"adult,car,compas,drybean,banana,letter,optdigits,vehicle,music,holes,dates,news,offenders,cancer".split(","), *PLAIN]


def features(names, train, test):
    """Returns the features of both as a pipeline that people write has them."""
    make, cols = [], []
    for j, name in enumerate(names[:-1]):
        cells, rest = ([r[j] for r in rows] for rows in (train, test))
        full = [v for v in cells if v]
        try:
            [float(v) for v in full]
            kind = "number"
        except ValueError:
            kind = "text" if np.mean([v.count(" ") for v in full]) > 3 and len(set(full)) > 0.5 * len(full) else "word"
        if kind == "word" and len(set(full)) > 0.3 * len(full) or name == "id":
            continue
        if kind == "number":
            pipe = make_pipeline(SimpleImputer(), StandardScaler())
            to = lambda some: np.array([[float(v) if v else np.nan] for v in some])
        elif kind == "word":
            pipe, to = OneHotEncoder(handle_unknown="ignore"), lambda some: np.array(some, dtype=object)[:, None]
        else:
            pipe, to = TfidfVectorizer(max_features=3000), lambda some: some
        for at, x in ((make, pipe.fit_transform(to(cells))), (cols, pipe.transform(to(rest)))):
            at.append(x if isinstance(x, np.ndarray) else x.toarray())
    return np.hstack(make), np.hstack(cols)


def corrupt(y, q, noise, x, rng):
    """Returns noisy labels. "oneway": of every other class; "example": the farther to one side, the more often wrong, 30 % of all."""
    y = y.copy()
    if noise == "none":
        return y
    rate = np.full(len(y), {"random": 0.2, "pairwise": 0.4, "oneway": 0.4, "example": 0.3}[noise])
    if noise == "oneway":
        rate[(y % 2 == 1) | (y == q - 1)] = 0
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
    """cleanlab's rule, prune by noise rate with the confident joint: returns which labels are issues."""
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


def fitted(model, x, y, xt):
    return model.fit(x, y).predict(xt) if len(set(y)) > 1 else np.full(len(xt), y[0])


def scores(flagged, wrong):
    hit = np.sum(flagged & wrong)
    return {"flagged": int(flagged.sum()), "precision": float(hit / max(1, flagged.sum())), "recall": float(hit / max(1, wrong.sum()))}


class Case:
    """One table with one kind of noise and one draw, and its files."""

    def __init__(self, o, name, noise, seed):
        self.o, self.key = o, {"set": name, "noise": noise, "seed": seed}
        rng = np.random.default_rng(seed)
        self.names, rows = table(name, o.data, o.found)
        order = rng.permutation(len(rows))
        n = min(o.rows, 2 * len(rows) // 3)
        self.train, self.test = [rows[i] for i in order[:n]], [rows[i] for i in order[n:n + 4000]]
        self.classes = sorted({r[-1] for r in rows})
        code = {c: k for k, c in enumerate(self.classes)}
        self.right, self.yt = (np.array([code[r[-1]] for r in some]) for some in (self.train, self.test))
        self.x, self.xt = features(self.names, self.train, self.test)
        self.y = corrupt(self.right, len(self.classes), noise, self.x, rng)
        self.order = rng.permutation(n)
        self.folder = os.path.join(o.folder, f"{name}.{noise}.{seed}")
        os.makedirs(self.folder, exist_ok=True)
        self.data = self.write("train.csv", self.names, self.labelled(self.y))
        self.held = self.write("test.csv", self.names, self.test)

    def labelled(self, y):
        return [r[:-1] + [self.classes[k]] for r, k in zip(self.train, y)]

    def write(self, file, head, body):
        with open(os.path.join(self.folder, file), "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([head] + body)
        return os.path.join(self.folder, file)

    def uma(self, *words):
        """Returns what a command prints, what it complains of, and the seconds of the processor that it took."""
        with subprocess.Popen([self.o.uma, *words, "--quiet", "--device", "cpu"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            out, err = p.stdout.read().decode(), p.stderr.read().decode()
            _, status, used = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        return out, err if p.returncode else "", used.ru_utime

    def predicted(self, model):
        """Returns which test rows a model gets wrong."""
        out, err, _ = self.uma("predict", "--model", model, "--data", self.held, "--out", "-")
        if err:
            raise RuntimeError(err)
        said = [r[-1] for r in csv.reader(out.splitlines())][-len(self.yt):]
        return np.array([self.classes.index(c) for c in said]) != self.yt

    def rivals(self, checked):
        """Returns which test rows each rival gets wrong, and what suspects cleanlab's rule with k-NN has."""
        path = os.path.join(self.o.folder, "rivals", ".".join(map(str, self.key.values())) + f".{checked}.{self.o.rows}.npz")
        if os.path.exists(path):
            return dict(np.load(path))
        known, q, model = self.order[:checked], len(self.classes), LogisticRegression(max_iter=500)
        mended = self.y.copy()
        mended[known] = self.right[known]
        table = self.write(f"mended.{checked}.csv", self.names, self.labelled(mended))
        _, err, _ = self.uma("train", "--model", self.folder + "/plain.npz", "--data", table, "--label-column", "label")
        if err:
            raise RuntimeError(err)
        if not hasattr(self, "bad"):
            self.bad = prune(self.x, self.y, q, model), prune(self.x, self.y, q, KNeighborsClassifier(10))
        use = ~self.bad[0]
        use[known] = True
        said = {"plain": self.predicted(self.folder + "/plain.npz"), "knn": self.bad[1]}
        said["sklearn"] = fitted(model, self.x, mended, self.xt) != self.yt
        said["cleanlab"] = fitted(model, self.x[use], mended[use], self.xt) != self.yt
        boosting = HistGradientBoostingClassifier()
        for name, other in (("forest", RandomForestClassifier(300, n_jobs=1, random_state=0)), ("boosting", boosting), ("svc", SVC())):
            said[name] = fitted(other, self.x, mended, self.xt) != self.yt
        if not hasattr(self, "boosted"):
            self.boosted = prune(self.x, self.y, q, boosting)
        use = ~self.boosted
        use[known] = True
        said["pruned"] = fitted(boosting, self.x[use], mended[use], self.xt) != self.yt
        if checked:
            said["alone"] = fitted(model, self.x[known], self.right[known], self.xt) != self.yt
        os.makedirs(os.path.dirname(path), exist_ok=True)
        np.savez_compressed(path, **said)
        return said

    def estimated(self, said):
        """Returns, for each class, the total variation of its column of C, whether the interval of its share of right labels
        holds, and whether it is identified."""
        at = [self.classes.index(name) for name in said["classes"]]
        counts = np.zeros((len(at), len(at)))
        np.add.at(counts, (self.y, self.right), 1)
        c = (counts / counts.sum(0).clip(1))[np.ix_(at, at)]
        off, errors = np.array(said["confusion"]) - c, np.array(said["standard_error"])
        return [[float(abs(off[:, k]).sum() / 2), bool(abs(off[k, k]) <= 2 * errors[k, k] + 1e-9), name not in said.get("not_identified", ())]
                for k, name in enumerate(said["classes"])]

    def run(self, checked):
        r = {**self.key, "checked": checked, "rows": len(self.y), "tested": len(self.yt)}
        known = np.sort(self.order[:checked])
        command = ["clean", self.data, "--label", "label", "--json", "--dir", self.folder + "/out"]
        if checked:
            command += ["--checked", self.write("checked.csv", ["row", "label"], [[int(i) + 1, self.classes[self.right[i]]] for i in known])]
        out, err, r["seconds"] = self.uma(*command)
        if err:
            return {**r, "failed": err}
        said = json.loads(out)
        r["shown"], r["share"], r["expected"] = said["shown"], said["wrong_labels"], said["expected_error"]["value"]
        r["wrong"] = float((self.y != self.right).mean())
        r["agreeing"] = said["agreeing"] / said["repetitions"]
        r["noise_classes"] = self.estimated(said)
        wrong = self.predicted(self.folder + "/out/model.npz")
        r["clean"] = float(wrong.mean())
        rivals = self.rivals(checked)
        best = min((rivals[k].mean(), k) for k in RIVALS if k in rivals)[1]
        gap = rivals[best].astype(float) - wrong
        r["best"], r["ahead"], r["off"] = best, float(gap.mean()), float(gap.std() / np.sqrt(len(gap)))
        r.update({k: float(rivals[k].mean()) for k in RIVALS if k in rivals})
        fair = np.ones(len(self.y), bool)
        fair[known] = False
        with open(self.folder + "/out/rows.csv") as f:
            flagged = np.array([line["wrong"] == "True" for line in csv.DictReader(f)])
        for name, some in (("suspects", flagged), ("knn", rivals["knn"])):
            r[name] = scores(some[fair], (self.y != self.right)[fair])
        return r


def case(args):
    o, name, noise, seed = args
    c = Case(o, name, noise, seed)
    return [c.run(checked) for checked in map(int, o.checked.split(","))]


def show(all):
    """Prints a line for each kind of noise and number of checked rows, and one for each table."""
    failed = [r for r in all if "failed" in r]
    for r in failed:
        print(f"failed: {r['set']}, {r['noise']}: {r['failed'].strip()}")
    all = [r for r in all if "failed" not in r]

    def means(some, *keys):
        values = [[float(r[k[0]][k[1]] if isinstance(k, tuple) else r[k]) for r in some if k in r or isinstance(k, tuple)] for k in keys]
        return [np.mean(v) if v else np.nan for v in values]

    cell = lambda v, digits: "–" if np.isnan(v) else f"{v:.{digits}f}"
    late = lambda some: (f"{np.sum([r['ahead'] < -0.005 for r in some])} of {len(some)} | "
                         f"{np.sum([r['ahead'] + 2 * r['off'] < -0.005 for r in some])} | {100 * min(r['ahead'] for r in some):.1f}")
    print("| noise | checked | clean | " + " | ".join(RIVALS.values()) + " | ahead | late | surely late | worst | suspects | cleanlab, k-NN | s |")
    print("|---" * (len(RIVALS) + 10) + "|")
    for noise, checked in sorted({(r["noise"], r["checked"]) for r in all}, key=lambda k: (NOISES.index(k[0]), k[1])):
        some = [r for r in all if (r["noise"], r["checked"]) == (noise, checked)]
        errors = " | ".join(cell(100 * v, 1) for v in means(some, "clean", *RIVALS))
        found = means(some, *itertools.product(("suspects", "knn"), ("precision", "recall")))
        print(f"| {noise} | {checked} | {errors} | {100 * means(some, 'ahead')[0]:.1f} | {late(some)} | {found[0]:.2f} / {found[1]:.2f} | "
              f"{found[2]:.2f} / {found[3]:.2f} | {means(some, 'seconds')[0]:.1f} |")
    judged = [r for r in all if r["share"]["low"] is not None]
    held = sum(r["share"]["low"] - 1e-9 <= r["wrong"] <= r["share"]["high"] + 1e-9 for r in judged)
    print(f"\nThe interval of the share of wrong labels holds in {held} of {len(judged)} cases.")
    levels = sorted({r["checked"] for r in all})
    print("\n| table | rows | " + " | ".join(f"ahead, {k} checked" for k in levels) + " | late | surely late | worst | s |")
    print("|---" * (6 + len(levels)) + "|")
    for name in dict.fromkeys(r["set"] for r in all):
        some = [r for r in all if r["set"] == name]
        by = [means([r for r in some if r["checked"] == k], "ahead")[0] for k in levels]
        print(f"| {name} | {some[0]['rows']} | " + " | ".join(cell(100 * v, 1) for v in by) + f" | {late(some)} | {means(some, 'seconds')[0]:.1f} |")
    for level in levels:
        columns = [k for r in all if r["checked"] == level and r["noise"] != "none" for k in r["noise_classes"]]
        told = [k for k in columns if k[2]]
        if told:
            print(f"\nC with {level} checked: {len(told)} of {len(columns)} classes are identified; total variation {np.mean([k[0] for k in told]):.3f}, "
                  f"of all {np.mean([k[0] for k in columns]):.3f}; {100 * np.mean([k[1] for k in told]):.0f} % of the intervals hold; "
                  f"off by more than 0.1 are {sum(k[0] > .1 for k in told)} identified classes and {sum(k[0] > .1 for k in columns)} of all.")
    if all:
        count, surely, worst = late(all).split(" | ")
        print(f"\nAhead of the best that knows no C by {100 * means(all, 'ahead')[0]:.1f} points on average; behind by more than half a "
              f"point in {count} ({surely} by more than the test rows leave open), at worst by {worst} points.")


def main():
    p = argparse.ArgumentParser()
    for name in ("uma", "data", "folder"):
        p.add_argument(name)
    p.add_argument("--found")
    p.add_argument("--sets")
    p.add_argument("--noises", default=",".join(NOISES))
    p.add_argument("--checked", default="0,50,200")
    p.add_argument("--seeds", default="1,2")
    p.add_argument("--rows", type=int, default=1000)
    p.add_argument("--jobs", type=int, default=2)
    o = p.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    if not o.sets:
        o.sets = ",".join(sorted(f[:-4] for f in os.listdir(o.found)) if o.found else SETS)
    cases = [(o, name, noise, int(seed)) for name in o.sets.split(",") for noise in o.noises.split(",") for seed in o.seeds.split(",")]
    done = []
    with open(os.path.join(o.folder, "clean.jsonl"), "w") as f, ProcessPoolExecutor(o.jobs) as pool:
        for some in pool.map(case, cases):
            done += some
            f.writelines(json.dumps(r) + "\n" for r in some)
            f.flush()
    show(done)


if __name__ == "__main__":
    main()
