import os
import subprocess
import sys

import numpy as np
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python", "src"))
os.environ.setdefault("UMA_GPU", os.path.join(ROOT, "build", "uma-gpu"))
os.environ["PYTHONPATH"] = os.path.join(ROOT, "python", "src")  # of processes that tests start
os.environ["UMA_GPU_DEVICE"] = "cpu"


@pytest.fixture
def shell():
    """Run a command line of the program, as a shell does."""
    def run(*args):
        return subprocess.run([os.environ["UMA_GPU"], *map(str, args)], capture_output=True, text=True)
    return run


@pytest.fixture(scope="session")
def noisy():
    """Digits, 30 % of whose labels are the next class: features, noisy labels, true ones, and C."""
    from sklearn.datasets import load_digits
    X, y = load_digits(return_X_y=True)
    random = np.random.RandomState(1)
    flip = random.rand(len(y)) < 0.3
    C = 0.7 * np.eye(10) + 0.3 * np.roll(np.eye(10), 1, axis=0)
    return X, np.where(flip, (y + 1) % 10, y), y, C
