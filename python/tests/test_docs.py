"""The examples of README.md and docs/python.md run."""

import os
import re

import pytest
from conftest import ROOT


@pytest.mark.parametrize("page, number", [("README.md", 1), ("docs/python.md", 9)])
def test_docs(tmp_path, monkeypatch, page, number):
    monkeypatch.chdir(tmp_path)
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
    assert len(blocks) == number
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
