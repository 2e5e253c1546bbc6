#!/usr/bin/env python3
"""Prints docs/gpu.md: page.py results.jsonl, which run.sh wrote. Exits with 1 if a part failed."""
import json
import re
import sys

BENCHMARK = re.compile(r"^Benchmark(\w+)/([^/]+)/?(.*?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op(.*)$", re.M)

CHECKS = """Conformance are the cases that every engine has to pass, to the bit; bench/same-bits.sh trains the same models
in many ways and compares W."""
STEPS = """40 % pairwise noise, C known, one pair of classes corrected in a step. torch makes its steps from
Fashion-MNIST, in the best way known to us (bench/peers/torch_step.py)."""
OPERATIONS = "`uma-gpu bench` on the same examples. GB are 10⁹ bytes of examples read."
LEARNING = """The same examples, C known, one penalty. An evaluation makes scores, residuals, their weighted sums and the
loss of one W; a step of the learner has one or more. torch's evaluation is plain: no C, no exact sums."""
EVALUATIONS = """The fastest of several. Two operations for each term of the two products; the bandwidth counts one reading of
the stored values and their columns."""
PROJECTIONS = "n examples, m landmarks; the kernel function is named first. No axes means the kernel values alone."
MEMORY = """The limit is one that the program is given. Devices that share the host's memory use in place what does not
fit; others have it streamed to them. Rescoring is told to copy on every device."""


def number(v):
    """Three significant digits."""
    return f"{v:.0f}" if abs(v) >= 100 else f"{v:.3g}"


def table(head, rows, text=1):
    """A table whose first columns, as many as text says, are text."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * text + "--:|" * (len(head) - text)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows])


class Page:
    def __init__(self, path):
        with open(path) as f:
            lines = [json.loads(line) for line in f]
        self.run, self.parts = lines[0], {p["part"]: p for p in lines[1:]}
        listed = self.parts["devices"]["printed"]
        found = {d["id"]: d for d in listed["devices"]} if isinstance(listed, dict) else {}
        self.cpu, self.device = found.get("cpu"), found.get(self.run["device"])
        self.verdicts = {name: self.verdict(name) for name in self.parts}

    def cases(self):
        return len(re.findall(r"^ {8}--- PASS", self.parts["conformance"]["printed"], re.M))

    def benchmarks(self, part):
        """Name below the device -> seconds and measures by their units, of the fastest of several levels."""
        found = {}
        for _, _, name, ns, rest in BENCHMARK.findall(str(self.parts[part]["printed"])):
            measures = {unit: float(v) for v, unit in re.findall(r"([\d.]+(?:e[+-]\d+)?) (\S+)", rest)}
            measures["seconds"] = measures["ms-best"] / 1e3 if "ms-best" in measures else float(ns) / 1e9
            if name not in found or measures["seconds"] < found[name]["seconds"]:
                found[name] = measures
        return found

    def verdict(self, name):
        p = self.parts[name]
        if p["limit"] <= 0:
            return "no time was left for it"
        if p["code"] in (124, 137):
            return f"not done after {p['limit']} s"
        if p["code"]:
            return f"FAILED, exit code {p['code']}"
        if name == "devices":
            return "passed" if self.device and self.device["self_test"] == "passed" else "FAILED"
        if name == "conformance":
            return f"passed, {self.cases()} cases" if self.cases() else "FAILED, found no case"
        if name == "same bits":
            runs = len(re.findall(r"^[0-9a-f]{64}  ", p["printed"], re.M))
            return f"passed, {runs} runs" if runs else "FAILED, made no run"
        if isinstance(p["printed"], str) and not self.benchmarks(name):
            return "FAILED, measured nothing"
        if name == "torch" and "skipped" in p["printed"]:
            return "skipped: " + p["printed"]["skipped"]
        return "measured"

    def good(self, *names):
        return all(self.verdicts.get(n, "left out").startswith(("passed", "measured")) for n in names)

    def failed(self):
        return [n for n, v in self.verdicts.items() if not v.startswith(("passed", "measured", "skipped"))]

    def on_gpu(self):
        return self.device is not None and "GPU" in self.device["type"].upper()

    def title(self):
        if not self.on_gpu():
            return "# No GPU was at hand: small sizes on a processor"
        return f"# {self.device['name']}" + (", small sizes" if self.run["small"] else "")

    def machine(self):
        d, c = self.device, self.cpu
        if not d or not c:
            return "The list of devices could not be read."
        text = (f"`opencl` is {d['name']} ({d['platform_name']}, driver {d['driver']}, {d['version']}), "
                f"{d['compute_units']} compute units, {d['memory_bytes'] / 2**30:.1f} GiB; `cpu` is {c['name']}, "
                f"{c['compute_units']} processors of the same machine.")
        if not self.on_gpu():
            text += " **Nothing here says how a GPU would do**: the page shows that the measurement works."
        return text

    def checks(self):
        names = {"devices": "self-test", "same bits": "bench/same-bits.sh"}
        rows = [[names.get(n, n), self.verdicts[n], str(p["seconds"])] for n, p in self.parts.items()]
        return table(["part", "result", "s"], rows, 2)

    def printed(self, name):
        return self.parts[name]["printed"]

    def data(self, name):
        d = self.printed(name)["data"]
        what = "Synthetic examples" if d["source"] == "synthetic" else "Fashion-MNIST"
        return f"{what}, {d['examples']} × {d['features']}, {d['classes']} classes, {d['storage']}. "

    def torch(self):
        t = self.printed("torch")
        return f"torch {t['torch']} on {t['device']}"

    def steps(self):
        one = self.printed("steps, opencl")["run"]
        base = one["step"]["seconds"]
        rows = []
        for label, name in (("uma-gpu opencl", "steps, opencl"), ("uma-gpu cpu", "steps, cpu")):
            o = self.printed(name)["run"]["step"]
            times = [number(1e3 * o[k]) for k in ("seconds", "seconds_least", "seconds_most")]
            rows.append([label] + times + [number(o["seconds"] / base)])
        if self.good("torch"):
            t = self.printed("torch")
            rows.append([self.torch(), number(1e3 * t["seconds"]), "-", "-", number(t["seconds"] / base)])
        text = table(["a step by", "ms", "least", "most", "times opencl"], rows)
        return f"The median of the {one['steps']} steps of a run.\n\n" + text

    def operations(self):
        one, other = (self.printed(n) for n in ("steps, opencl", "steps, cpu"))
        rows = []
        measures = (("gb_per_s", 1), ("bandwidth_share", 100), ("launches", 1))
        for o, c in zip(*(r["operations"] + [r["run"]["whole"]] for r in (one, other))):
            rows.append([o["name"], number(1e3 * o["seconds"])] +
                        ["-" if o[k] is None else number(scale * o[k]) for k, scale in measures] +
                        [number(1e3 * c["seconds"]), number(c["seconds"] / o["seconds"])])
        head = ["operation", "opencl ms", "GB/s", "% of bandwidth", "launches", "cpu ms", "cpu ms / opencl ms"]
        bandwidth = (f"The {r['bandwidth_name']} of `{name}` was {number(r['bandwidth_gb_per_s'])} GB/s."
                     for r, name in ((one, "opencl"), (other, "cpu")))
        return table(head, rows) + "\n\n" + " ".join(bandwidth)

    def phase(self, part, name):
        """Median seconds of what is done in a step."""
        return next(o["seconds"] for o in self.printed(part)["run"]["phases"] if o["name"] == name)

    def learning(self):
        rows = []
        base = self.phase("logistic, opencl", "evaluate")
        for label, name in (("uma-gpu opencl", "logistic, opencl"), ("uma-gpu cpu", "logistic, cpu")):
            run, evaluation = self.printed(name)["run"], self.phase(name, "evaluate")
            whole = f"{number(run['whole']['seconds'])} ({run['steps']} steps)"
            rows.append([label, number(1e3 * evaluation), number(evaluation / base),
                         number(1e3 * run["step"]["seconds"]), whole])
        if self.good("torch"):
            t = self.printed("torch")
            rows.append([self.torch(), number(1e3 * t["evaluation"]), number(t["evaluation"] / base), "-", "-"])
        return table(["by", "an evaluation, ms", "times opencl", "a step, ms", "a run, s"], rows)

    def compared(self, kind):
        """Evaluations or projections: opencl beside cpu."""
        peak = bandwidth = 0
        if self.good("peak"):
            peak = 2 * max(m["Gfma/s-peak"] for m in self.benchmarks("peak").values())
        if self.good("steps, opencl"):
            bandwidth = self.printed("steps, opencl")["bandwidth_gb_per_s"]
        share = lambda v, of: number(100 * v / of) if v and of else "-"
        cpu, rows = self.benchmarks(f"{kind}, cpu"), []
        for name, m in self.benchmarks(f"{kind}, opencl").items():
            shown = name.removesuffix("/evaluate").replace("/", ", ")
            rows.append([shown, number(1e3 * m["seconds"]), number(m["GFLOP/s"]), share(m["GFLOP/s"], peak)])
            if kind == "evaluations":
                rows[-1].append(share(m.get("GB/s"), bandwidth))
            c = cpu.get(name)
            rows[-1] += [number(1e3 * c["seconds"]), number(c["seconds"] / m["seconds"])] if c else ["-", "-"]
        head = ["examples", "opencl ms", "GFLOP/s", "% of the fma peak"]
        head += ["% of bandwidth"] * (kind == "evaluations") + ["cpu ms", "cpu ms / opencl ms"]
        return table(head, rows) + (f"\n\nThe fma peak of `opencl` was {number(peak)} GFLOP/s." if peak else "")

    def memory(self):
        rows = []
        if self.good("large", "large, little memory"):
            base = self.phase("large", "evaluate")
            for name, label in (("large", "all there is"), ("large, little memory", self.run["allowed"])):
                r, seconds = self.printed(name), self.phase(name, "evaluate")
                n, d, size = r["data"]["examples"], r["data"]["features"], r["example_bytes"] / 2**20
                rows.append([f"an evaluation of {n} × {d}, {size:.0f} MiB", label, number(1e3 * seconds),
                             number(seconds / base)])
        if self.good("streamed"):
            found = {name.rsplit("/", 1)[-1]: v["seconds"] for name, v in self.benchmarks("streamed").items()}
            for name, label in (("resident", "all there is"), ("streamed", "a third of them, and copied")):
                rows.append(["rescoring two classes of 60000 × 784, 179 MiB", label, number(1e3 * found[name]),
                             number(found[name] / found["resident"])])
        return table(["what", "memory allowed", "ms", "times all there is"], rows, 2)

    def section(self, head, needs, text, about=""):
        """A section; needs are the parts without which it only says why there is none."""
        lacking = [n for n in needs if not self.good(n)]
        what = text() if not lacking else \
            "Not measured: " + "; ".join(f"{n}: {self.verdicts.get(n, 'left out')}" for n in lacking) + "."
        return "\n\n".join([f"## {head}"] + ([about] if about else []) + [what]) + "\n"

    def text(self):
        data = self.data("steps, opencl") if self.good("steps, opencl") else ""
        steps = ["steps, opencl", "steps, cpu"]
        return "\n".join([
            self.title(), "", self.machine(), "",
            "Made by `make bench-gpu` (bench/gpu/run.sh, then page.py). All figures are of one run, in which other work on\n"
            "the machine was not kept away; the ratios say more than the times.", "",
            self.section("Checks and parts", [], self.checks, CHECKS),
            self.section("A step of UMA", steps, self.steps, data + STEPS),
            self.section("Operations", steps, self.operations, OPERATIONS),
            self.section("Logistic regression", ["logistic, opencl", "logistic, cpu"], self.learning, LEARNING),
            self.section("Evaluations of other sizes", ["evaluations, opencl", "evaluations, cpu"],
                         lambda: self.compared("evaluations"), EVALUATIONS),
            self.section("Projection on kernel principal components", ["projections, opencl", "projections, cpu"],
                         lambda: self.compared("projections"), PROJECTIONS),
            self.section("More than memory holds", [], self.memory, MEMORY)])


if __name__ == "__main__":
    page = Page(sys.argv[1])
    print(page.text(), end="")
    for name in page.failed():
        print(f"{name}: {page.verdicts[name]}; results.jsonl has what it told", file=sys.stderr)
    sys.exit(1 if page.failed() else 0)
