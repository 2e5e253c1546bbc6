#!/usr/bin/env python3
"""What a fit from Python costs beside the program's own: python.py PROGRAM. Milliseconds, the least of 20
rounds in turns."""

import os
import subprocess
import sys
import tempfile
import time

os.environ.update(UMA_GPU=os.path.abspath(sys.argv[1]), UMA_GPU_DEVICE="cpu")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "src"))

import numpy as np  # noqa: E402
from umagpu import NoisyClassifier, _worker, run  # noqa: E402

random = np.random.RandomState(0)
X = random.randn(10000, 100).astype(np.float32)
y = (X @ random.randn(100, 5)).argmax(axis=1)
folder = tempfile.mkdtemp(dir="/dev/shm")
np.save(f"{folder}/x.npy", X)
np.save(f"{folder}/y.npy", y)
model = NoisyClassifier(l2=0.01)
command = ["train", "--data", f"{folder}/x.npy", "--labels", f"{folder}/y.npy", "--learner", "softmax",
           "--l2", "0.01", "--model", f"{folder}/m.npz", "--json"]


def least(*whats):
    found = [[] for _ in whats]
    for _ in range(20):
        for what, times in zip(whats, found):
            start = time.perf_counter()
            what()
            times.append(1000 * (time.perf_counter() - start))
    return map(min, found)


def stop():
    _worker.worker().close()
    _worker._worker = None


def shell():
    subprocess.run([os.environ["UMA_GPU"], *command], check=True, capture_output=True)


def fit():
    model.fit(X, y)


def fit_new():
    X[0, 0] += 1e-6  # so that the worker has not seen these data
    model.fit(X, y)


try:
    _, cold, own, warm, inside, again = least(stop, fit_new, shell, fit_new, lambda: run(*command), fit)
    begin = time.process_time()
    for _ in range(20):
        fit()
    processor = (time.process_time() - begin) * 1000 / 20
    print(f"10,000 x 100, cold: fit {cold:.0f}, command line {own:.0f}, overhead {cold - own:.1f}")
    print(f"10,000 x 100, warm: fit {warm:.0f}, the same command {inside:.0f}, overhead {warm - inside:.1f}; "
          f"on the data of the last call {again:.0f}, {again - inside:.1f}; processor time of Python {processor:.1f}")
    images = random.randint(256, size=(60000, 784)).astype(np.uint8)
    labels = random.randint(10, size=60000)
    with _worker.Call() as call:
        written, = least(lambda: call.array(images))
        found = [call.json("train", "--data", call.array(images), "--labels", call.array(labels),
                           "--learner", "classmean", "--model", call.path(".npz"))["seconds"]
                 for _ in range(4)]
    print(f"60,000 x 784 uint8: written in {written:.0f}; the program reads it, with its hash, in "
          f"{1000 * found[0]['read']:.0f}, and again in {1000 * min(f['read'] for f in found[1:]):.0f}; "
          f"whole fit {1000 * found[0]['total']:.0f}, again {1000 * min(f['total'] for f in found[1:]):.0f}")
finally:
    for name in os.listdir(folder):
        os.unlink(f"{folder}/{name}")
    os.rmdir(folder)
