#!/usr/bin/python3
"""Estimates of C from noisy labels beside the true C, and consensus labels of crowds beside right ones.

usage: estimates.py UMA_GPU DATA RESULTS [SET...]

Ten sets, each under pairwise 40 %, symmetric 40 % and random noise. RESULTS, a JSON object on each line, has what was measured;
that is not measured again. Prints the tables of docs/confusion.md. Exits 1 if fewer than nine in
ten entries lie within two standard errors or are said to be not identified, or if a consensus is not as right as is known.
"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from cases import NOISES, SETS, Case, known

METHODS = {"confident joint": ["confident-joint"], "100 checked": ["clean", True],
           "auto, 100 checked": ["auto", True], "auto": ["auto"]}
# Right by another implementation: votes, and plain Dawid-Skene of 100 rounds. The weights of the mean were chosen by the first four.
CROWDS = {"bluebird": (.7593, .8981), "dog": (.8228, .8426), "web": (.7271, .8217), "CF": (.8767, .8300), "rte": (.8975, .9275),
          "trec": (.6519, .7020), "MS": (.6900, .7686), "labelme": (.7660, .7940), "sentiment_polarity": (.8870, .9150)}
METHODS_OF_CROWDS = ("majority", "one-coin", "two-coin", "dawid-skene", "ebcc", None)


def measure(case):
    """Returns how good each estimate is, and what the C of some lead to."""
    r = {"identity": float(np.abs(np.eye(case.q) - case.c).mean())}
    for name, (method, *checked) in METHODS.items():
        flags = ["--clean", "checked.csv"] if checked else []
        found = case.call("confusion", "estimate", *case.train, "--method", method, "--out", name.replace(" ", "-") + ".csv", *flags)
        if found is None:  # such as curved classes for the confident joint, whose model is linear
            r[name] = None
            continue
        p, e = np.array(found["confusion"]), np.array(found["standard_error"])
        r[name] = float(np.abs(p - case.c).mean())
        if name == "auto":
            told = [k for k in range(case.q) if str(k) not in (found.get("not_identified") or [])]
            near = (np.abs(p - case.c) <= 2 * e + 5e-5)[:, told]
            r["near"], r["of"], r["entries"], r["classes"] = int(near.sum()), near.size, case.q ** 2, f"{len(told)} of {case.q}"
        if name == "auto":
            r["chosen"] = found["method"].split(":")[0].split(",")[0]
    ways = {"C known": ["--confusion", case.true], "C by auto": ["--confusion", "auto.csv", "--trust-confusion"], "none": []}
    r["error"] = {way: case.error(*flags)[0] for way, flags in ways.items()}
    return r


def labels_of(data, name):
    """Returns the labels of a crowd, (item, worker, label), and the truth of items."""
    def lines(path):
        return list(csv.reader(gzip.open(f"{data}/{path}", "rt")))
    if name in ("labelme", "sentiment_polarity"):
        truth = lines(f"{name}/{'LabelMe' if name == 'labelme' else 'Sentiment'}_Z_train.txt.gz")
        return lines(f"{name}/annotations.csv.gz")[1:], {str(i): row[0] for i, row in enumerate(truth)}
    return lines(f"crowd/{name}/label.csv.gz")[1:], dict(lines(f"crowd/{name}/truth.csv.gz")[1:])


def crowds(program, data, folder):
    """Prints the table of crowds, and returns those whose consensus is half a point less right than the vote or Dawid-Skene."""
    print("\n| set | items | labels | plain Dawid-Skene | majority | one-coin | two-coin | dawid-skene | ebcc | chosen | |")
    print("|---|" + "--:|" * 9 + "---|")
    wrong = []
    for name, (_, plain) in CROWDS.items():
        labels, truth = labels_of(data, name)
        items = {row[0] for row in labels}
        with open(folder + "/crowd.csv", "w") as f:
            f.writelines(["id,worker,label\n"] + [f"item{i},{worker},{label}\n" for i, worker, label in labels])
        shares = []
        for method in METHODS_OF_CROWDS:
            out = subprocess.run([program, "confusion", "estimate", "--annotators", "crowd.csv", "--write-labels", "consensus.csv", "--quiet", "--json",
                                  *(["--method", method] if method else [])], cwd=folder, check=True, stdout=subprocess.PIPE).stdout
            said = {list(r.values())[0]: r["label"] for r in csv.DictReader(open(folder + "/consensus.csv"))}
            shares.append(np.mean([said["item" + i] == t for i, t in truth.items() if i in items]))
        chosen = json.loads(out)["contest"]["chosen"]
        print(f"| {name} | {len(items)} | {len(labels)} | {plain:.4f} | {' | '.join(f'{v:.4f}' for v in shares)} | {chosen} |", flush=True)
        if shares[-1] < max(shares[0], shares[3]) - .005:
            wrong.append(name)
    return wrong


def number(v):
    return "–" if v is None else f"{v:.4f}"


def means(rows, columns, value):
    """Prints a row for each noise with the means over the sets; what could not be estimated does not count."""
    for noise in NOISES:
        cells = [[v for r in rows if r["noise"] == noise and (v := value(r, c)) is not None] for c in columns]
        print(f"| {noise} | " + " | ".join(number(sum(v) / len(v)) if v else number(None) for v in cells) + " |")


def main():
    program, data, results, *only = sys.argv[1:]
    names = only or SETS
    done = {(r["set"], r["noise"]): r for r in known(results)}
    with tempfile.TemporaryDirectory() as folder:
        for name, noise in [(name, noise) for name in names for noise in NOISES if (name, noise) not in done]:
            done[name, noise] = r = {"set": name, "noise": noise, **measure(Case(program, folder, name, noise, data))}
            print(json.dumps(r), file=open(results, "a"))
        rows = [done[name, noise] for name in names for noise in NOISES]
        columns = ["identity", *METHODS]
        print("| mean absolute error per entry | " + " | ".join(columns) + " | auto chose |\n|---|" + "--:|" * len(columns) + "---|")
        for r in rows:
            print(f"| {r['set']}, {r['noise']} | " + " | ".join(number(r[c]) for c in columns) + f" | {r.get('chosen', '')} |")
        means(rows, columns, lambda r, c: r[c])
        columns = list(rows[0]["error"])
        print("\n| test error | " + " | ".join(columns) + " | classes identified | entries within two standard errors |\n|---|" + "--:|" * 6)
        for r in rows:
            share = f"{r['near'] / r['of']:.3f}" if r["of"] else ""
            print(f"| {r['set']}, {r['noise']} | " + " | ".join(number(r["error"][c]) for c in columns) + f" | {r['classes']} | {share} |")
        means(rows, columns, lambda r, c: r["error"][c])
        near, of = (sum(r[k] for r in rows) for k in ("near", "of"))
        entries = sum(r["entries"] for r in rows)
        share = (near + entries - of) / entries
        print(f"\nOf {entries} entries {share:.3f} lie within two standard errors or are of classes that are not identified; of {of} others {near / of:.3f}.")
        wrong = [] if only else crowds(os.path.abspath(program), data, folder)
    if wrong or share < .9:
        raise SystemExit(f"too few entries within two standard errors, or crowds that are off: {wrong}")


if __name__ == "__main__":
    main()
