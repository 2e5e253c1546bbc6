#!/usr/bin/python3
"""Measures uma-gpu and its peers side by side: measure.py UMA_GPU SOURCE DIR

UMA_GPU is the program, SOURCE holds Fashion-MNIST, DIR gets what the peers read
(prepare.py) and results.json, from which page.py makes docs/performance.md.
Everything is run ROUNDS times (5), in turns: first, second, ..., last, first, ...; what takes minutes twice at most.
STEPS (200) is the length of UMA's runs, ERROR (0.3) the test error for it to reach. What
results.json has is not measured again: an interrupted run goes on. make bench-peers moves it away.
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

# scikit-learn's own penalty, C = 1, for 60,000 examples; and how near the error of the minimum is reached.
L2, NEAR = 1 / 60000, 1.02
MOST = 1000  # iterations, which end before
SLOW, SLOW_ROUNDS = ("kernel mean", "farthest"), 2  # which take minutes


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

    def learn(self, device, data, steps, *flags):
        """Trains; returns train's report with the test error."""
        model = f"{self.dir}/model.npz"
        r = run(self.uma, "train", "--json", "--quiet", "--device", device, "--model", model,
                "--max-steps", str(steps), *data, *(flags or ("--learner", "uma")))
        judged = run(self.uma, "eval", "--json", "--quiet", "--device", device, "--model", model, *self.test)
        return {"seconds": r["seconds"]["train"], "upload": r["seconds"]["upload"], "steps": r["steps"],
                "error": judged["error_rate"]}

    def logistic(self, device, steps):
        """By one penalty, no search."""
        return self.learn(device, self.train, steps, "--learner", "softmax", "--l2", repr(L2), "--iterations", str(MOST))

    def sklearn_logistic(self, steps):
        return run(os.path.join(HERE, "sklearn_logistic.py"), self.dir, repr(L2), str(steps))

    def lengths(self):
        """How many steps each needs: UMA to ERROR, the others to NEAR the error of their minimum."""
        found = {
            "uma": least((10, 20, 40, 80, 160, 320, 640), float(ERROR), lambda k: self.learn("cpu", self.train, k)),
            "uma noisy": least((10, 20, 40, 80, 160, 320, 640), float(ERROR), lambda k: self.learn("cpu", self.noisy, k)),
        }
        for name, fit in (("logistic", lambda k: self.logistic("cpu", k)), ("sklearn logistic", self.sklearn_logistic)):
            found[name + " final"] = final = fit(MOST)["error"]
            found[name] = least(range(6, MOST, 2), NEAR * final, fit)
        # SGDClassifier's error after one pass.
        found["sgd"] = run(os.path.join(HERE, "sklearn_linear.py"), self.dir, "y", "1")["SGDClassifier"]["error"]
        found["logistic to sgd"] = least(range(1, MOST), found["sgd"], lambda k: self.logistic("cpu", k))
        return found

    def turns(self, lengths):
        """What is measured in turns: name -> function."""
        script = lambda name, *args, **env: lambda: run(os.path.join(HERE, name), *args, **env)
        clean, noisy = lengths["uma"], lengths["uma noisy"]
        turns = {
            "uma-gpu opencl": lambda: self.bench("opencl", "--repeat", "1", *self.train),
            "uma-gpu cpu": lambda: self.bench("cpu", "--repeat", "1", *self.train),
        }
        for core in ("", "SkylakeX") if "avx512f" in field("/proc/cpuinfo", "flags") else ("",):
            for how in ("masked", "gemm"):
                turns[f"numpy {how}{' AVX-512' if core else ''}"] = script("naive_step.py", self.dir, how, "15", **({"OPENBLAS_CORETYPE": core} if core else {}))
        turns |= {
            "evaluation": script("evaluation.py", "--json", "1"),
            "online": script("online.py", self.uma, self.dir),
            "torch": script("torch_step.py", self.dir, "100"),
            "learn opencl": lambda: self.learn("opencl", self.train, clean),
            "learn cpu": lambda: self.learn("cpu", self.train, clean),
            "learn opencl noisy": lambda: self.learn("opencl", self.noisy, noisy),
            "learn cpu noisy": lambda: self.learn("cpu", self.noisy, noisy),
            "sklearn": script("sklearn_linear.py", self.dir, "y", ERROR),
            "sklearn noisy": script("sklearn_linear.py", self.dir, "noisy", ERROR),
            "liblinear": script("liblinear.sh", self.dir, ERROR),
            "sklearn logistic": lambda: self.sklearn_logistic(lengths["sklearn logistic"]),
        }
        for device in ("opencl", "cpu"):
            for name in ("logistic", "logistic to sgd"):
                turns[f"{name} {device}"] = lambda device=device, name=name: self.logistic(device, lengths[name])
        turns["logistic, search cpu"] = lambda: self.learn("cpu", self.train, 100000, "--learner", "softmax")
        turns["kernel mean"] = script("kernelmean.py", self.uma)
        turns["farthest"] = script("atoms.py", self.uma, self.train[1], self.train[3], "60000", "4000", "1", "clusters")
        for s in SHAPES:
            turns["scaling %d,%d,%d" % s] = lambda s=s: self.bench("opencl", "--repeat", "1", "--synthetic", "%d,%d,%d" % s)
        return turns


def least(steps, wanted, fit):
    """The least number of steps after which the error is at most wanted, or the last tried."""
    for k in steps:
        if fit(k)["error"] <= wanted:
            break
    return k


def main(uma, source, folder):
    if not os.path.exists(f"{folder}/C.csv"):  # which is written last
        subprocess.run([os.path.join(HERE, "prepare.py"), source, folder], check=True)
    m, path = Measurement(uma, source, folder), f"{folder}/results.json"
    if os.path.exists(path):
        with open(path) as f:
            results = json.load(f)
    else:
        results = {"machine": machine(uma), "rounds": ROUNDS, "error": float(ERROR), "near": NEAR, "l2": L2,
                   "shapes": SHAPES, "load": [], "nice": os.nice(0), "lengths": m.lengths(), "runs": {},
                   "same_loss": run(os.path.join(HERE, "same_loss.py"), uma, os.path.join(HERE, "../../testdata"))}
        write(path, results)
    for k in range(ROUNDS):
        for name, measured in m.turns(results["lengths"]).items():
            done = results["runs"].setdefault(name, [])
            if len(done) > k or name in SLOW and k >= SLOW_ROUNDS:
                continue
            results["load"].append(os.getloadavg()[0])
            done.append(measured())
            write(path, results)
            print(f"round {k + 1} of {ROUNDS}: {name}", file=sys.stderr, flush=True)


def write(path, results):
    with open(path + ".new", "w") as f:
        json.dump(results, f, indent=1)
    os.replace(path + ".new", path)


if __name__ == "__main__":
    main(*sys.argv[1:])
