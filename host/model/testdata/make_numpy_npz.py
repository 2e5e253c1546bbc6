#!/usr/bin/env python3
"""Write numpy.npz, a model file as numpy makes it (once, by hand; numpy 1.24.2)."""
import json, zipfile
import numpy

w = (numpy.arange(15, dtype=numpy.float32).reshape(3, 5) - 7) / 8
c = numpy.array([[0.75, 0.0, 0.25], [0.25, 1.0, 0.0], [0.0, 0.0, 0.75]])
numpy.savez("numpy.npz", W=w, confusion=c)
meta = {
    "format_version": 4, "contract_version": 1, "tool_version": "by numpy", "classes": ["a", "<=50K", "é"],
    "features": {"count": 4, "names": ["u", "v", "w", "x"]},
    "learner": "uma", "parameters": {"select": "error", "alpha": 0.1}, "seed": 18446744073709551615,
    "weights": "best", "preparation": {"steps": "standardize,bias", "features": 4, "a": [1, 0.5, 0.1, 1e-38], "b": [0, -0.5, 3, 1]}, "data_sha256": "0" * 64, "condition_number": 1.5,
    "steps": 7, "stop": "converged", "estimated_error": 0.125,
    "device": {"kind": "cpu", "name": "n", "platform": "p", "driver": "d"},
}
with zipfile.ZipFile("numpy.npz", "a") as z:
    z.writestr(zipfile.ZipInfo("meta.json"), json.dumps(meta))
