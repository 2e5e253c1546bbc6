#!/usr/bin/python3
"""Measures uma-gpu and its rivals from start to model: measure.py UMA_GPU FASHION DATA FOLDER [flags]

FASHION holds Fashion-MNIST, DATA the other sets; FOLDER gets what all read (sets.py) and results.json, from which page.py
makes docs/performance.md. Each training is a process of its own on two processors, of at most --seconds; what takes less
than 20 is repeated in turns. What results.json has is not measured again: an interrupted run goes on. What tells most
comes first: small sets before large, quick rivals before slow ones. Only a run without selection measures evaluations
(evaluation.py) and minima (same_loss.py).
"""
import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import time

import sets

HERE = os.path.dirname(os.path.abspath(__file__))
ORDER = [["uma-gpu", "uma-gpu-rbf", "forward", "sgd", "forward-search", "logistic"],
         ["nystroem-forward", "nystroem", "torch", "torch-network"], ["svc", "boosting"]]
LINEAR = {"uma-gpu", "forward", "sgd", "forward-search", "logistic", "torch"}  # all that text is learned by
QUICK, THREADS = 20, 2
ENVIRONMENT = {name: str(THREADS) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOMAXPROCS")}


def run(*command, seconds=None):
    """Runs a command on two processors and returns the JSON that it prints."""
    here = sorted(os.sched_getaffinity(0))[:THREADS]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ENVIRONMENT}, timeout=seconds,
                          preexec_fn=lambda: os.sched_setaffinity(0, here))
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def ours(uma, name, folder, noise, seconds):
    """Trains by defaults; returns seconds until the model is written, its error, and the steps that it took."""
    model, c = f"{folder}/model.npz", f"{folder}/C.{noise}.csv"
    train, test = ["--data", f"{folder}/x.{noise}.svm"], ["--data", f"{folder}/xt.svm"]
    if os.path.exists(f"{folder}/x.npy"):
        train = ["--data", f"{folder}/x.npy", "--labels", f"{folder}/y.{noise}.npy"]
        test = ["--data", f"{folder}/xt.npy", "--labels", f"{folder}/yt.npy"]
    train += ["--confusion", c] if os.path.exists(c) else []
    train += ["--kernel", "rbf"] if name == "uma-gpu-rbf" else []
    start = time.monotonic()
    told = run(uma, "train", "--json", "--quiet", "--model", model, *train, seconds=seconds)
    taken = time.monotonic() - start
    error = run(uma, "eval", "--json", "--quiet", "--model", model, *test)["error_rate"]
    return {"taken": taken, "bare": taken, "error": error, "steps": told["steps"], "device": told["device"]["name"]}


def rival(name, form, folder, noise, seconds):
    """Runs a rival; returns seconds until it is trained, also without those until all was imported, and its error."""
    start = time.monotonic()
    told = run(sys.executable, os.path.join(HERE, "rival.py"), name, form, folder, noise, seconds=seconds)
    return {"taken": told["trained"] - start, "bare": told["trained"] - told["imported"], "error": told["error"]}


def machine(uma):
    def field(path, name):
        with open(path) as f:
            return re.search(rf"^{name}\s*[:=]\s*\"?(.*?)\"?$", f.read(), re.M).group(1)
    versions = {}
    for module in ("numpy", "scipy", "sklearn", "torch"):
        done = subprocess.run([sys.executable, "-c", f"import {module}; print({module}.__version__)"], capture_output=True, text=True)
        versions[module] = done.stdout.strip() or "not installed"
    return {"processor": field("/proc/cpuinfo", "model name"), "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(int(field("/proc/meminfo", "MemTotal").split()[0]) / 2**20, 1),
            "system": field("/etc/os-release", "PRETTY_NAME"), "python": platform.python_version(), "versions": versions,
            "uma_gpu": run(uma, "version", "--json"), "date": datetime.date.today().isoformat()}


class Measurement:
    def __init__(self, args):
        self.args, self.path = args, args.folder + "/results.json"
        os.makedirs(args.folder, exist_ok=True)
        self.results = {"machine": machine(args.uma), "limit": args.seconds, "load": [], "runs": {}}
        if os.path.exists(self.path):
            with open(self.path) as f:
                self.results = json.load(f)

    def write(self):
        with open(self.path + ".new", "w") as f:
            json.dump(self.results, f, indent=1)
        os.replace(self.path + ".new", self.path)

    def measure(self, data, noise, name, again):
        """Trains once, unless as many results are there, or it takes too long."""
        of = self.results["runs"].setdefault(f"{data} {noise} {name}", {"taken": [], "bare": []})
        if len(of["taken"]) > again or "over" in of or again and of["taken"][0] > QUICK:
            return
        folder = sets.prepare(data, self.args.fashion, self.args.data, self.args.folder)
        self.results["load"].append(os.getloadavg()[0])
        try:
            if name.startswith("uma-gpu"):
                found = ours(self.args.uma, name, folder, noise, self.args.seconds)
            else:
                found = rival(name, "text" if data in sets.TEXTS else "dense", folder, noise, self.args.seconds)
            for what in ("taken", "bare"):
                of[what].append(found.pop(what))
            of.update(found)
        except subprocess.TimeoutExpired:
            of["over"] = self.args.seconds
        self.write()
        print(f"round {again + 1}: {data}, {noise}, {name}: {of}", file=sys.stderr, flush=True)

    def all(self):
        chosen = lambda given, every: [v for v in every if not given or v in given.split(",")]
        no_torch = self.results["machine"]["versions"]["torch"] == "not installed"
        for stage in ORDER:
            for again in range(self.args.rounds):
                for data in chosen(self.args.sets, sets.SETS):
                    for noise in chosen(self.args.noises, sets.SETS[data]):
                        for name in chosen(self.args.rivals, stage):
                            if (data not in sets.TEXTS or name in LINEAR) and not (no_torch and name.startswith("torch")):
                                self.measure(data, noise, name, again)
        if not (self.args.sets or self.args.noises or self.args.rivals):
            for name, command in (("evaluation", ["evaluation.py", "--json"]), ("same_loss", ["same_loss.py", self.args.uma, HERE + "/../../testdata"])):
                if name not in self.results:
                    self.results[name] = run(sys.executable, os.path.join(HERE, command[0]), *command[1:])
                    self.write()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("uma", "fashion", "data", "folder"):
        parser.add_argument(name)
    for name in ("sets", "noises", "rivals"):
        parser.add_argument("--" + name, default="", help="comma list; all without it")
    parser.add_argument("--seconds", type=float, default=120, help="limit of a training")
    parser.add_argument("--rounds", type=int, default=3, help="how often quick ones are repeated")
    Measurement(parser.parse_args()).all()


if __name__ == "__main__":
    main()
