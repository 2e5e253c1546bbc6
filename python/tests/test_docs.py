"""The examples of README.md and of the docs run, in notebooks that show reports."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import umagpu
from conftest import ROOT
from test_issues import twin


def blocks_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)


def test_docs(tmp_path):
    blocks, five = blocks_of("docs", "python.md"), blocks_of("README.md")
    assert len(blocks) == 13
    assert five == blocks_of("python", "README.md") == blocks_of("packaging", "site", "index.md")
    blocks += [*five, "umagpu.report(model, df.drop(columns='target'), df['target'])",
               "NoisyClassifier(verbose=True).fit(X, y)"]
    *examples, report, fit = run(tmp_path, blocks)
    assert [cell["outputs"] for cell in examples] == [[]] * 14
    assert "<iframe" in "".join(report["outputs"][0]["data"]["text/html"])
    assert "converged" in "".join(fit["outputs"][0]["text"])


def run(folder, blocks):
    """Run the cells of a notebook, and return them."""
    cells = [{"cell_type": "code", "id": f"cell{k}", "execution_count": None, "metadata": {},
              "outputs": [], "source": block} for k, block in enumerate(blocks)]
    (folder / "docs.ipynb").write_text(json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute",
                           "--output", "done.ipynb", "docs.ipynb"],
                          cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "done.ipynb").read_text())["cells"]


SHOP = """
n, random = 600, np.random.RandomState(1)
true = random.randint(3, size=n)
words = np.array(["sour yellow fruit", "sweet red berry", "hard brown nut"])[true]
pd.DataFrame({
    "price": np.where(random.rand(n) < .1, np.nan, random.gamma(2, 2, n) + 3 * true),
    "title": [f"{w} {random.choice(['fresh', 'organic', 'cheap'])}" for w in words],
    "origin": random.choice(["ES", "FR", "PL", None], n), "organic": random.rand(n) < .5,
    "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(random.randint(99, size=n), "D"),
    "class": np.array(["fruit", "berry", "nut"])[np.where(random.rand(n) < .15, (true + 1) % 3, true)],
}).to_csv("shop.csv", index_label="sku")
pd.Series(np.array(["fruit", "berry", "nut"])[true], name="class").to_csv("true.csv", index=False)
"""
NOTEBOOK = """
df = pd.read_csv("shop.csv", index_col="sku", parse_dates=["day"])
result = umagpu.clean(df, label="class", text=["title"], name="shop")
print(result.summary())
---
result
---
result.issues[result.issues.wrong].sort_values("probability", ascending=False).head()
---
result.cleaned.to_csv("cleaned.csv")
result.model.save("model.npz")
---
truth = pd.read_csv("true.csv")["class"]
assert (result.cleaned["class"] == truth).mean() > .97 > (df["class"] == truth).mean()
assert (result.model.predict(df.drop(columns="class")) == truth).mean() > .97
"""


def test_clean_in_a_notebook(tmp_path):
    cells = run(tmp_path, ["import numpy as np, pandas as pd, umagpu\n" + SHOP,
                           *NOTEBOOK.strip().split("---\n")])
    shown = ["".join(str(o.get("text", "")) + str(o.get("data", {}).get("text/html", ""))
                     for o in cell["outputs"]) for cell in cells]
    assert "600 rows" in shown[1] and "<iframe" in shown[2] and "suggestion" in shown[3]
    assert shown[0] == shown[4] == shown[5] == ""


def table_of(path, section):
    """Return the cells of the table of a section."""
    with open(os.path.join(ROOT, "docs", path), encoding="utf-8") as file:
        part = file.read().split(f"## {section}\n")[1].split("\n## ")[0]
    return [re.split(r" \| ", line.strip("| ")) for line in part.splitlines()
            if line.startswith("| ")][1:]


def test_from():
    """Each call in the second column of docs/from.md runs."""
    random = np.random.RandomState(0)
    true = random.randint(3, size=120)
    y = labels = np.where(random.rand(120) < 0.2, (true + 1) % 3, true)
    X = random.randn(120, 4) + np.eye(3, 4)[true] * 3
    names = {"labels": labels, "y": y, "true": true, "X": X, "X_pool": X[:30], "classes": [0, 1, 2],
             "pred_probs": np.eye(3)[true] * 0.7 + 0.1, "predicted": true, "clf": GaussianNB(),
             "joint": np.eye(3, dtype=int) * 30 + 3, "cross_val_predict": cross_val_predict,
             "df": pd.DataFrame(X).rename(columns=str).assign(kind="a"),
             "confusion": 0.8 * np.eye(3) + 0.2 * np.roll(np.eye(3), 1, axis=0),
             "votes": np.column_stack([labels, true, labels])}
    lines = table_of("from.md", "From cleanlab") + table_of("from.md", "From scikit-learn")
    assert len(lines) > 30
    for there, here, _ in lines:
        result = eval(here.strip("`"), {**vars(umagpu), **names})
        assert result is not None, here
        rule = re.fullmatch("`filter_by=\"(.*)\"`", there)
        if rule:
            assert result.tolist() == twin(labels, names["pred_probs"], rule[1])
        if isinstance(result, umagpu.NoisyClassifier):
            result.fit(X, y)
