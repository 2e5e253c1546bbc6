"""The examples of docs/python.md run."""

import os
import re

from conftest import ROOT


def test_docs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
    assert len(blocks) == 9
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
