"""Learn from labels that are wrong, and find the wrong ones.

A fit, a prediction and a function each run a command of the program uma-gpu, in one process that
starts with the first call. A model has the bytes that the command line writes.
"""

from ._classifier import KernelMap, NoisyClassifier, Page
from ._issues import find_label_issues
from ._labels import (PredictionSets, consensus, corrected_accuracy, estimate_confusion, query,
                      survey)
from ._worker import DeviceError, DoubtWarning, Error, OutOfMemory, WorkerDied, run

__version__ = "0.1.0"
__all__ = ["DeviceError", "DoubtWarning", "Error", "KernelMap", "NoisyClassifier", "OutOfMemory",
           "Page", "PredictionSets", "WorkerDied", "consensus", "corrected_accuracy",
           "estimate_confusion", "find_label_issues", "query", "run", "survey"]
