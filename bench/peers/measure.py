#!/usr/bin/python3
"""Measures uma-gpu and its peers side by side: measure.py UMA_GPU SOURCE DIR

UMA_GPU is the program, SOURCE holds Fashion-MNIST, DIR gets what the peers read
(prepare.py) and results.json, of which page.py makes docs/performance.md.
Everything is run ROUNDS times (5), in turns: first, second, ..., last, first, ...
STEPS (200) is the length of uma-gpu's runs, ERROR (0.3) the test error to reach.
"""
import datetime
import json
import os
import platform
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", 5))
STEPS = os.environ.get("STEPS", "200")
ERROR = os.environ.get("ERROR", "0.3")
# n, d and Q of the scaling table, in groups that page.py compares.
SHAPES = [(15000, 784, 10), (30000, 784, 10), (60000, 784, 10), (60000, 196, 10), (60000, 392, 10),
          (60000, 784, 2), (60000, 784, 25), (60000, 784, 50)]


def run(*args, **env):
    """Runs a command and returns the JSON that it prints."""
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **env})
    if done.returncode:
        sys.exit(f"{' '.join(args)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def first_line(*args):
    try:
        return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return ""


def field(path, name):
    with open(path) as f:
        found = re.search(rf"^{name}\s*[:=]\s*\"?(.*?)\"?$", f.read(), re.M)
    return found.group(1) if found else "unknown"


def machine(uma):
    return {
        "processor": field("/proc/cpuinfo", "model name"), "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(field("/proc/meminfo", "MemTotal").split()[0]) / 2**20, 1),
        "system": field("/etc/os-release", "PRETTY_NAME"), "python": platform.python_version(),
        "liblinear": first_line("dpkg-query", "-W", "-f", "${Version}", "liblinear-tools"),
        "uma_gpu": run(uma, "version", "--json"), "devices": run(uma, "devices", "--json")["devices"],
        "date": datetime.date.today().isoformat(),
    }


class Measurement:
    def __init__(self, uma, source, folder):
        self.uma, self.dir = uma, folder
        self.train = ["--data", f"{source}/train-images-idx3-ubyte.gz", "--labels", f"{source}/train-labels-idx1-ubyte.gz"]
        self.noisy = ["--data", self.train[1], "--labels", f"{folder}/noisy.npy", "--confusion", f"{folder}/C.csv"]
        self.test = ["--data", f"{source}/t10k-images-idx3-ubyte.gz", "--labels", f"{source}/t10k-labels-idx1-ubyte.gz"]

    def bench(self, device, *args):
        return run(self.uma, "bench", "--learner", "uma", "--json", "--quiet", "--device", device, "--steps", STEPS,
                   "--step", "pair", "--doubt", "0", *args)  # two classes a step, as the others do it

    def learn(self, device, data, steps):
        """Trains; returns train's report with the test error."""
        model = f"{self.dir}/model.npz"
        r = run(self.uma, "train", "--learner", "uma", "--json", "--quiet", "--device", device, "--max-steps", str(steps), "--model", model, *data)
        judged = run(self.uma, "eval", "--json", "--quiet", "--device", device, "--model", model, *self.test)
        return {"seconds": r["seconds"]["train"], "upload": r["seconds"]["upload"], "steps": r["steps"], "error": judged["error_rate"]}

    def steps_to_error(self, data):
        """The least of 10, 20, 40, ... steps that reach ERROR, or the last tried."""
        for steps in (10, 20, 40, 80, 160, 320, 640):
            if self.learn("opencl", data, steps)["error"] <= float(ERROR):
                break
        return steps

    def turns(self):
        """What is measured in turns: name -> function."""
        script = lambda name, *args, **env: lambda: run(os.path.join(HERE, name), *args, **env)
        clean, noisy = self.steps_to_error(self.train), self.steps_to_error(self.noisy)
        turns = {
            "uma-gpu opencl": lambda: self.bench("opencl", "--repeat", "1", *self.train),
            "uma-gpu cpu": lambda: self.bench("cpu", "--repeat", "1", *self.train),
        }
        for core in ("", "SkylakeX") if "avx512f" in field("/proc/cpuinfo", "flags") else ("",):
            for how in ("masked", "gemm"):
                turns[f"numpy {how}{' AVX-512' if core else ''}"] = script("naive_step.py", self.dir, how, "15", **({"OPENBLAS_CORETYPE": core} if core else {}))
        turns |= {
            "evaluation": script("evaluation.py", "--json", "1"),
            "torch": script("torch_step.py", self.dir, "100"),
            "learn opencl": lambda: self.learn("opencl", self.train, clean),
            "learn cpu": lambda: self.learn("cpu", self.train, clean),
            "learn opencl noisy": lambda: self.learn("opencl", self.noisy, noisy),
            "learn cpu noisy": lambda: self.learn("cpu", self.noisy, noisy),
            "sklearn": script("sklearn_linear.py", self.dir, "y", ERROR),
            "sklearn noisy": script("sklearn_linear.py", self.dir, "noisy", ERROR),
            "liblinear": script("liblinear.sh", self.dir, ERROR),
        }
        return turns


def main(uma, source, folder):
    if not os.path.exists(f"{folder}/C.csv"):  # which is written last
        subprocess.run([os.path.join(HERE, "prepare.py"), source, folder], check=True)
    m = Measurement(uma, source, folder)
    results = {"machine": machine(uma), "rounds": ROUNDS, "error": float(ERROR), "runs": {}, "scaling": []}
    turns = m.turns()
    for k in range(ROUNDS):
        for name, measured in turns.items():
            r = measured()
            results["runs"].setdefault(name, []).append(r)
            print(f"round {k + 1} of {ROUNDS}: {name}", file=sys.stderr, flush=True)
    rounds = []
    for k in range(ROUNDS):
        rounds.append([m.bench("opencl", "--repeat", "1", "--synthetic", "%d,%d,%d" % s) for s in SHAPES])
        print(f"round {k + 1} of {ROUNDS}: scaling", file=sys.stderr, flush=True)
    results["scaling"] = [{"shape": s, "runs": list(r)} for s, r in zip(SHAPES, zip(*rounds))]
    with open(f"{folder}/results.json", "w") as f:
        json.dump(results, f, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
