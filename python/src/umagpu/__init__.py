"""Learn from labels that are wrong, and find the wrong ones.

A fit, a prediction and a function each are a call of the program uma-gpu, one process that starts
with the first call. A model has the bytes that the command line writes.
"""

import importlib.util

if _missing := [name for name in ("numpy", "pandas", "scipy", "sklearn")
                if importlib.util.find_spec(name) is None]:
    raise ImportError(f"umagpu: found no {' and no '.join(_missing)}; on Debian: apt install "
                      "python3-pandas python3-sklearn, and let the virtual environment see them "
                      "(--system-site-packages); else: pip install pandas scikit-learn")

from ._classifier import KernelMap, NoisyClassifier, Page
from ._clean import Cleaned, clean
from ._crowd import Consensus, consensus, weak_labels
from ._issues import find_label_issues
from ._labels import (Accuracy, compare, corrected_accuracy, cross_validate, estimate_confusion,
                      query, report, survey)
from ._sets import PredictionSets
from ._worker import DoubtWarning, Error, WorkerDied, run

__version__ = "0.1.0"
__all__ = ["Accuracy", "Cleaned", "Consensus", "DoubtWarning", "Error", "KernelMap",
           "NoisyClassifier", "Page", "PredictionSets", "WorkerDied", "clean",
           "compare", "consensus", "corrected_accuracy", "cross_validate", "estimate_confusion",
           "find_label_issues", "query", "report", "run", "survey", "weak_labels"]
