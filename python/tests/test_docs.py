"""The examples of README.md and docs/python.md run, as a notebook, and a report shows in it."""

import json
import os
import re
import subprocess
import sys

from conftest import ROOT


def blocks_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)


def test_docs(tmp_path):
    blocks, five = blocks_of("docs", "python.md"), blocks_of("README.md")
    assert len(blocks) == 10
    assert five == blocks_of("python", "README.md") == blocks_of("packaging", "site", "index.md")
    blocks += [*five, "model.report(X, y)", "NoisyClassifier(verbose=True).fit(X, y)"]
    cells = [{"cell_type": "code", "id": f"cell{k}", "execution_count": None, "metadata": {},
              "outputs": [], "source": block} for k, block in enumerate(blocks)]
    (tmp_path / "docs.ipynb").write_text(json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute",
                           "--output", "done.ipynb", "docs.ipynb"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *examples, report, fit = json.loads((tmp_path / "done.ipynb").read_text())["cells"]
    assert [cell["outputs"] for cell in examples] == [[]] * 11
    assert "<iframe" in "".join(report["outputs"][0]["data"]["text/html"])
    assert "converged" in "".join(fit["outputs"][0]["text"])
