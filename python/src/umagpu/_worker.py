"""The program uma-gpu, as one process beside this one that calls its functions."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from typing import Any, BinaryIO, Callable, Optional

import numpy as np

STARTING = 60.0  # seconds that the program may take to say who it is
PATIENCE = 5.0  # seconds that a cancelled call has to end before its process is killed
ALIGN = 64  # places of arrays are multiples of this
GONE = "uma-gpu: the program has ended; a new one starts with the next call"
HERE = os.path.dirname(__file__)


class DoubtWarning(UserWarning):
    """What speaks against a confusion matrix or a result."""


class Error(ValueError):
    """What the program says against a call or a command.

    fault has the parts of the message, such as "option", "row", "got", "want" and "advice"; it is
    empty for commands. code is the exit code of the command line.
    """

    def __init__(self, message: str, code: int = 1, fault: Optional[dict[str, Any]] = None):
        super().__init__(message)
        self.message, self.code, self.fault = message, code, fault or {}

    def __reduce__(self) -> Any:
        return type(self), (self.message, self.code, self.fault)


class WorkerDied(RuntimeError):
    """The process of the program ended in the middle of a command."""


class WorkerGone(WorkerDied):
    """The process ended in a command of another thread."""


def program() -> str:
    """Return the path of the program: $UMA_GPU, the one in the package, or that of PATH."""
    name = "uma-gpu.exe" if os.name == "nt" else "uma-gpu"
    packed = os.path.join(os.path.dirname(__file__), "bin", name)
    found = os.environ.get("UMA_GPU") or (packed if os.path.exists(packed) else shutil.which(name))
    if not found:
        raise FileNotFoundError(
            "uma-gpu: found no program in the package, in $UMA_GPU or in PATH; install the wheel of "
            "umagpu, or build the program and set UMA_GPU to its path")
    return found


def _start(path: str, words: list[str], **streams: Any) -> "subprocess.Popen[bytes]":
    """Start the program. A session of its own: Ctrl-C is for Python, which ends it."""
    environment = dict(os.environ)
    if "OMP_NUM_THREADS" in environment:  # joblib shares the processors out by it
        environment.setdefault("GOMAXPROCS", environment["OMP_NUM_THREADS"])
    try:
        return subprocess.Popen([path, *words], env=environment, start_new_session=True, **streams)
    except OSError as error:
        raise OSError(error.errno, f"uma-gpu: cannot start the program: {error.strerror}; "
                      "set UMA_GPU to the program, or leave it out", path) from None


class Worker:
    """A process of the program, and folders for arrays. One call runs at a time."""

    def __init__(self) -> None:
        roots = [r for r in ("/dev/shm", tempfile.gettempdir()) if os.access(r, os.W_OK)]
        self.words = tempfile.TemporaryFile()  # what it says when it crashes
        path = program()
        self.process = _start(path, ["worker", *roots], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=self.words, bufsize=0)
        self.lock = threading.Lock()
        self.closed = False
        self.count = 0
        self.rest = bytearray()
        self.folders: list[str] = []
        try:
            self.folders = self._line(STARTING)["folders"]
        except (WorkerDied, ValueError, KeyError, TypeError) as error:
            said = self.rest[:200].decode(errors="replace").strip()
            self.close(kill=True)
            said = f"{error}" if isinstance(error, WorkerDied) else f"it says {said!r}"
            raise RuntimeError(f"uma-gpu: {path} does not answer as the program uma-gpu does ({said}); "
                               "set UMA_GPU to the program, or leave it out") from None

    def file(self, size: int) -> tuple[int, str]:
        """Return a new file with room for that many bytes: in memory, if it fits."""
        for folder in self.folders:
            try:
                if shutil.disk_usage(folder).free > size + (16 << 20):
                    return tempfile.mkstemp(dir=folder)
            except OSError:  # no inode is left, or the program is ending
                pass
        try:
            self.process.wait(0.5)
            raise WorkerGone(GONE)
        except subprocess.TimeoutExpired:
            pass
        raise OSError(28, f"no room for {size} bytes; free some, or set TMPDIR to another folder",
                      self.folders[-1])

    def ask(self, request: dict[str, Any], hear: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Send a request, and return its answer; hear gets the lines before it."""
        with self.lock:
            if self.closed:
                raise WorkerGone(GONE)
            self.count += 1
            number = self.count
            text = json.dumps({"id": number, **request}, allow_nan=False, default=lambda v: v.tolist())
            try:
                self._send(text)
                while True:
                    line = self._line()
                    if line.get("id") != number:
                        _remove(line.get("memory"))  # of a request that was cancelled
                    elif "note" in line:
                        hear(line)
                    elif line["code"]:
                        raise Error(line.get("error", ""), line["code"], line.get("fault"))
                    else:
                        return line
            except (WorkerDied, Error):
                raise
            except BaseException:  # Ctrl-C
                self._cancel(number)
                raise

    def _send(self, text: str) -> None:
        data = memoryview(text.encode() + b"\n")
        try:
            while data:
                data = data[os.write(self.process.stdin.fileno(), data):]  # type: ignore[union-attr]
        except BrokenPipeError:
            self._died()

    def _line(self, seconds: Optional[float] = None) -> dict[str, Any]:
        at = 0
        while (end := self.rest.find(b"\n", at)) < 0:
            at = len(self.rest)
            if not select.select([self.process.stdout], [], [], seconds)[0]:
                raise ValueError("nothing")
            part = os.read(self.process.stdout.fileno(), 1 << 20)  # type: ignore[union-attr]
            if not part:
                self._died()
            self.rest += part
        line: dict[str, Any] = json.loads(bytes(self.rest[:end]))
        del self.rest[:end + 1]
        return line

    def _died(self) -> None:
        code = self.process.wait()
        self.words.seek(0)
        said = self.words.read()[:2000].decode(errors="replace").strip()
        self.close()
        how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        if code == 130:
            how = "a signal from outside such as SIGTERM"
        raise WorkerDied(f"uma-gpu: the program ended by {how} in the middle of a command; "
                         f"a new one starts with the next call{': ' if said else ''}{said}")

    def _cancel(self, number: int) -> None:
        """Have the command end as by Ctrl-C, or else the process."""
        until = time.monotonic() + PATIENCE
        try:
            self._send(json.dumps({"id": number, "cancel": True}))
            while (left := until - time.monotonic()) > 0:
                if b"\n" in self.rest or select.select([self.process.stdout], [], [], left)[0]:
                    line = self._line()
                    _remove(line.get("memory"))
                    if line.get("id") == number and "note" not in line:
                        return
        except (WorkerDied, ValueError):
            pass
        self.close(kill=True)

    def close(self, kill: bool = False) -> None:
        """End the process; its folders go with it."""
        self.closed = True
        if kill:
            self.process.kill()
        self.forget()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)

    def forget(self) -> None:
        """Close the pipes, as a forked child does with those of its parent."""
        for pipe in (self.process.stdin, self.process.stdout, self.words):
            if pipe:
                pipe.close()


def _lay(file: BinaryIO, arrays: dict[str, Any]) -> list[dict[str, Any]]:
    """Write arrays in the order of C, none of them as a copy, and return where they lie."""
    places = []
    for at, array in arrays.items():
        little = array.dtype.newbyteorder("<")
        file.write(bytes(-file.tell() % ALIGN))
        places.append({"at": at, "type": little.str, "shape": list(array.shape), "offset": file.tell()})
        whole = array.flags.c_contiguous and array.dtype == little
        step = len(array) if whole else (1 << 20) // max(1, array[:1].nbytes)
        for k in range(0, len(array) if array.nbytes else 0, max(1, step)):
            file.write(np.ascontiguousarray(array[k:k + step], little).data.cast("B"))
    return places


def _taken(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an answer, with its arrays, whose file is removed."""
    result: dict[str, Any] = answer["result"]
    try:
        for place in answer["arrays"] or []:
            *path, last = place["at"].split(".")
            node: Any = result
            for name in path:
                node = node[int(name)] if isinstance(node, list) else node.setdefault(name, {})
            dtype, shape = np.dtype(place["type"]), place["shape"]
            count = int(np.prod(shape, dtype=np.int64))
            node[last] = np.fromfile(answer["memory"], dtype, count,
                                     offset=place["offset"]).reshape(shape)
    finally:
        _remove(answer.get("memory"))
    return result


def _remove(path: Optional[str]) -> None:
    """Remove a file of arrays, unless there is none or it went with the worker."""
    with contextlib.suppress(OSError):
        os.unlink(path or "")


_worker: Optional[Worker] = None
_starting = threading.Lock()


def worker() -> Worker:
    """Return the worker of this process, which is started if there is none."""
    global _worker
    with _starting:
        if _worker is not None and (_worker.closed or _worker.process.poll() is not None):
            if _worker.lock.acquire(blocking=False):  # else the thread in a call closes it
                _worker.close()
                _worker.lock.release()
            _worker = None
        if _worker is None:
            _worker = Worker()
        return _worker


def _after_fork() -> None:
    """The worker is the parent's; a child starts its own."""
    global _worker, _starting
    _starting = threading.Lock()
    if _worker is not None:
        _worker.forget()
        _worker.process.returncode = 0  # the parent waits for it
        _worker = None


def _at_exit() -> None:
    if _worker is not None:
        _worker.close()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def call(function: str, request: dict[str, Any], arrays: Optional[dict[str, Any]] = None, *,
         device: Optional[str] = None, verbose: bool = False, doubts: bool = True,
         page: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    """Call a function of the program, such as "train", and return its result.

    The request has the fields of the Go type of that name, as JSON names them; arrays has numpy
    arrays by the path of their field, such as "data.matrix.float32". Arrays of the result stand in
    their fields too. Warnings of the program become UserWarning, and doubts DoubtWarning unless
    those are not wanted. With verbose, notes go to standard error. page asks for the arrays "page"
    and "review_page", of HTML.
    """
    warned: list[str] = []

    def hear(line: dict[str, Any]) -> None:
        text = line["note"].rstrip("\n")
        if line.get("warning") or text.startswith("warning: "):  # of the call, of the device
            warned.append(text.removeprefix("warning: "))
        elif verbose:
            sys.stderr.write(text + "\n")
    asked: dict[str, Any] = {
        "function": function, "request": request, "device": device or "", "page": page}
    result = None
    while result is None:
        path, running = None, worker()
        try:
            if arrays:
                size = sum(array.nbytes + ALIGN for array in arrays.values())
                handle, path = running.file(size)
                with open(handle, "wb") as file:
                    asked.update(arrays=_lay(file, arrays), memory=path)
            result = _taken(running.ask({"call": asked}, hear))
        except WorkerGone:  # in a call of another thread
            continue
        finally:
            _remove(path)
    doubtful = ["; ".join(filter(None, (doubt["text"], doubt["advice"])))
                for doubt in result.get("doubts") or []]
    for text in warned:
        if text not in doubtful:
            warn(text)
    for text in doubtful if doubts else []:
        warn(text, DoubtWarning)
    return result


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn as from the line outside this package that called it."""
    depth, frame = 1, sys._getframe()
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == HERE:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(text, category, stacklevel=depth)


def run(*args: object) -> str:
    """Run a command line of the program as in a shell, and return what it prints.

    >>> run("learners").split()[0]
    'softmax'
    """
    words = [os.fsdecode(a) if isinstance(a, (bytes, os.PathLike)) else str(a) for a in args]
    with _start(program(), words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE) as process:
        try:
            printed, said = process.communicate()
        except BaseException:  # Ctrl-C
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            process.kill()
            raise
    if code := process.returncode:
        text = "\n" + said.decode(errors="replace").rstrip()
        raise Error(text.rpartition("\numa-gpu: ")[2].lstrip(), code)
    return printed.decode()
