"""The process of the program: forks, threads, kills, full disks, Ctrl-C."""

import glob
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pytest

import umagpu
from umagpu import NoisyClassifier, WorkerDied, _worker

def data():
    random = np.random.RandomState(0)
    X = random.randn(300, 5)
    return X, (X[:, 0] > 0).astype(int)


def endless():
    """Fit what would take hours: labels that no weights are right about."""
    X, _ = data()
    NoisyClassifier("perceptron", options={"max_steps": 10**9}).fit(X, np.arange(len(X)) % 2)


def fitted(_=None):
    return NoisyClassifier(l2=0.01).fit(*data()).model_


def worker_of(fit):
    """Run fit in a thread, and return the worker when it is at work, and what fit raises."""
    raised = []

    def run():
        try:
            fit()
        except BaseException as error:
            raised.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    worker = _worker.worker()
    while not worker.lock.locked() and thread.is_alive():
        time.sleep(0.001)
    return worker, thread, raised


def gone(process):
    with open(f"/proc/{process}/stat") as file:
        return file.read().rsplit(")")[1].split()[0] == "Z"


def ends(process, seconds=10):
    """Wait for the end of a process that is no child of this one."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if gone(process):
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools(method):
    want = fitted()
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(fitted, range(4)) == [want] * 4
    assert fitted() == want


def test_fork_after_fit_and_fit_after_fork():
    want = fitted()
    for _ in range(20):
        child = os.fork()
        if child == 0:
            ok = fitted() == want
            _worker._at_exit()
            os._exit(0 if ok else 1)
        assert fitted() == want  # at the same time
        assert os.waitpid(child, 0)[1] == 0


def test_threads():
    want, got = fitted(), []
    threads = [threading.Thread(target=lambda: got.append(fitted())) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [want] * 8


def test_killed_workers():
    for _ in range(int(os.environ.get("KILLS", 5))):
        worker, thread, raised = worker_of(endless)
        worker.process.kill()
        thread.join()
        assert isinstance(raised[0], WorkerDied) and "SIGKILL" in str(raised[0])
        assert not any(map(os.path.exists, worker.folders))
        assert ends(worker.process.pid)
    fitted()


def test_killed_python():
    code = ("import umagpu, numpy as np\nfrom umagpu import _worker\n"
            "w = _worker.worker()\nprint(w.process.pid, *w.folders, flush=True)\n"
            "import sys\nsys.path.insert(0, %r)\nfrom test_process import endless\nendless()\n"
            % os.path.dirname(__file__))
    python = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    process, *folders = python.stdout.readline().split()
    while not any(os.listdir(folder) for folder in folders):
        time.sleep(0.001)
    python.kill()
    python.wait()
    assert ends(int(process))
    assert not any(map(os.path.exists, folders))


def test_interrupt():
    worker = _worker.worker()
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless()
    assert _worker.worker() is worker, "the worker survives"
    assert not any(os.listdir(folder) for folder in worker.folders)
    fitted()


def test_run(tmp_path):
    assert "softmax" in umagpu.run("learners")
    with pytest.raises(umagpu.Error, match="^--data is missing; see uma-gpu train --help$") as error:
        umagpu.run("train", "--model", tmp_path / "m.npz")
    assert error.value.code == 2
    X, y = data()
    np.savez(tmp_path / "d.npz", X=X, y=y % 2 ^ (np.arange(len(y)) % 3 == 0))
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):  # as in a shell: the model so far is written
        umagpu.run("train", "--data", tmp_path / "d.npz", "--learner", "perceptron", "--max-steps",
                   10**8, "--model", tmp_path / "m.npz")
    assert (tmp_path / "m.npz").exists()


def test_nothing_is_left():
    code = ("import umagpu, numpy as np\nfrom umagpu import _worker\n"
            "X = np.random.RandomState(0).randn(300, 5)\n"
            "umagpu.NoisyClassifier().fit(X, X[:, 0] > 0).predict(X)\n"
            "w = _worker.worker()\nprint(w.process.pid, *w.folders)\n")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    process, *folders = out.stdout.split()
    assert out.stderr == ""
    assert ends(int(process)) and not any(map(os.path.exists, folders))


def test_full_disk(monkeypatch):
    X, y = data()
    monkeypatch.setattr(_worker.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    with pytest.raises(OSError, match="no room.*TMPDIR"):
        NoisyClassifier().fit(X, y)
    monkeypatch.undo()
    fitted()


@pytest.mark.skipif(os.getuid() != 0, reason="mounts a small file system")
def test_full_file_system():
    folder = tempfile.mkdtemp()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder],
                      capture_output=True).returncode:
        pytest.skip("cannot mount")
    worker = _worker.worker()
    try:
        worker.folders.insert(0, folder)
        worker.file = lambda size: tempfile.mkstemp(dir=folder)  # another writer was faster
        X, y = data()
        with pytest.raises((OSError, umagpu.Error)):
            NoisyClassifier().fit(np.repeat(X, 100, axis=0), np.repeat(y, 100))
        assert os.listdir(folder) == []
    finally:
        worker.folders.remove(folder)
        del worker.file
        subprocess.run(["umount", folder], check=True)
        os.rmdir(folder)
    fitted()


def test_two_processes_on_one_device():
    if "opencl" not in umagpu.run("devices"):
        pytest.skip("no OpenCL device")
    code = ("import umagpu, numpy as np, hashlib\nX = np.random.RandomState(0).randn(300, 5)\n"
            "m = umagpu.NoisyClassifier(device='opencl:0.0').fit(X, X[:, 0] > 0)\n"
            "print(hashlib.sha256(m.decision_function(X)).hexdigest())\n")
    both = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)]
    a, b = (p.communicate()[0] for p in both)
    assert a == b and len(a) > 60


def test_no_program(monkeypatch):
    monkeypatch.setenv("UMA_GPU", "")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(_worker, "_worker", None)
    if not glob.glob(os.path.join(os.path.dirname(_worker.__file__), "bin", "*")):
        with pytest.raises(FileNotFoundError, match="UMA_GPU"):
            fitted()


def test_recalled_data():
    """What the process keeps of X is X as it is now, for every caller and however it came to be."""
    random = np.random.RandomState(0)
    X = random.randint(200, size=(400, 9)).astype(np.uint8)
    y = (X[:, 0] > 100).astype(int)

    def fit(X, y=y):
        return NoisyClassifier("classmean").fit(X, y).model_

    def fresh(X, y=y):
        _worker._worker.close()
        return fit(X, y)

    def checked(X, y=y):
        found = fit(X, y)
        assert fit(X.copy(), y) == fresh(X, y) == found  # kept, and read by another process
        return found

    found = [checked(X), checked(X, 1 - y), checked(X.astype(np.float32))]
    assert found[2] == found[0]
    X[3, 4] += 1  # in place
    found.append(checked(X))
    X[[5, 6]] = X[[6, 5]]
    found.append(checked(X))
    X = np.asfortranarray(X)
    assert checked(X) == found[-1]
    assert len(set(found)) == 4
    model = NoisyClassifier("classmean", random_state=0).fit(X, y)
    p = model.predict_proba(X)
    _worker._worker.close()
    assert np.array_equal(model.predict_proba(X), p)

    got = {}
    parts = [X[k:k + 200].copy() for k in range(8)]
    threads = [threading.Thread(target=lambda k=k: got.update({k: fit(parts[k % 8], y[k % 8:][:200])}))
               for k in range(24)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(8):
        assert got[k] == got[k + 8] == got[k + 16] == fresh(parts[k], y[k:][:200])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(fit_scaled, range(1, 5)) == [fit_scaled(k) for k in range(1, 5)]


def fit_scaled(k):
    X, y = data()
    return [NoisyClassifier(l2=0.01).fit(X * scale, y).model_ for scale in (k, 1, k)]


@pytest.mark.parametrize("said", ["exit 0", "echo hello", "echo '{}'", "echo oh >&2; exit 3", "cat"])
def test_another_program(said, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\n" + said + "\n")
    monkeypatch.setenv("UMA_GPU", str(other))
    monkeypatch.setattr(_worker, "_worker", None)
    monkeypatch.setattr(_worker, "STARTING", 1)
    with pytest.raises(OSError, match="UMA_GPU"):  # nobody may run it
        _worker.worker()
    other.chmod(0o755)
    with pytest.raises(RuntimeError, match=f"{other} does not answer.*UMA_GPU"):
        _worker.worker()


def test_terminated():
    worker, thread, raised = worker_of(endless)
    worker.process.terminate()
    thread.join()
    assert isinstance(raised[0], WorkerDied) and "SIGTERM" in str(raised[0])
    assert fitted() is not None


def test_thread_beside_a_killed_worker():
    worker, thread, raised = worker_of(endless)
    models, errors = [], []

    def beside():
        try:
            models.append(fitted())
        except BaseException as error:
            errors.append(error)
    others = [threading.Thread(target=beside) for _ in range(3)]
    for other in others:
        other.start()
    time.sleep(0.2)  # they wait for the worker
    worker.process.kill()
    for other in others + [thread]:
        other.join()
    assert isinstance(raised[0], WorkerDied) and not errors and len(models) == 3


def test_no_inodes(monkeypatch):
    worker = _worker.worker()
    made = tempfile.mkstemp

    def full(dir):
        if dir == worker.folders[0]:
            raise OSError(28, "No space left on device")
        return made(dir=dir)
    monkeypatch.setattr(tempfile, "mkstemp", full)
    assert len(worker.folders) > 1 and fitted() is not None
