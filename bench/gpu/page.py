#!/usr/bin/env python3
"""Prints docs/gpu.md: page.py results.jsonl, which run.sh wrote. Exits with 1 if a part failed."""
import json
import re
import sys

BENCHMARK = re.compile(r"^Benchmark(\w+)/([^/]+)/?(.*?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op(.*)$", re.M)


def number(v):
    """Three significant digits."""
    return f"{v:.0f}" if abs(v) >= 100 else f"{v:.3g}"


def table(head, rows, text=1):
    """A table whose first columns, so many, are text."""
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
        return all(self.verdicts[n].startswith(("passed", "measured")) for n in names)

    def failed(self):
        return [n for n, v in self.verdicts.items() if not v.startswith(("passed", "measured", "skipped"))]

    def title(self):
        d, name = self.device, "no device" if not self.device else self.device["name"]
        if not d or "GPU" not in d["type"].upper():
            return f"# No GPU was at hand: small sizes on a processor by {d['platform_name'] if d else 'no platform'}"
        return f"# {name}" + (", small sizes" if self.run["small"] else "")

    def machine(self):
        d, c = self.device, self.cpu
        if not d:
            return "The list of devices could not be read."
        warn = "" if "GPU" in d["type"].upper() else \
            " **Nothing here says how a GPU would do**: the page shows that the measurement works, and what it will tell."
        return (f"`opencl` is {d['name']} ({d['platform_name']}, driver {d['driver']}, {d['version']}), {d['compute_units']} compute units, "
                f"{d['memory_bytes'] / 2**30:.1f} GiB; `cpu` is {c['name']}, {c['compute_units']} processors of the same machine.{warn}")

    def checks(self):
        names = {"devices": "self-test", "same bits": "bench/same-bits.sh"}
        return table(["part", "result", "s"], [[names.get(n, n), self.verdicts[n], str(p["seconds"])] for n, p in self.parts.items()], 2)

    def step(self, name):
        return self.parts[name]["printed"]["run"]["step"]

    def describe(self, name):
        r = self.parts[name]["printed"]
        d = r["data"]
        what = "synthetic examples" if d["source"] == "synthetic" else "Fashion-MNIST"
        return f"{what}, {d['examples']} × {d['features']}, {d['classes']} classes, {d['storage']}, {r['run']['steps']} steps in a run"

    def steps(self):
        base = self.step("steps, opencl")["seconds"]
        rows = []
        for label, name in (("uma-gpu opencl", "steps, opencl"), ("uma-gpu cpu", "steps, cpu")):
            o = self.step(name)
            rows.append([label] + [number(1e3 * o[k]) for k in ("seconds", "seconds_least", "seconds_most")] + [number(o["seconds"] / base)])
        if self.good("torch"):
            t = self.parts["torch"]["printed"]
            rows.append([f"torch {t['torch']} on {t['device']}", number(1e3 * t["seconds"]), "-", "-", number(t["seconds"] / base)])
        return table(["a step by", "ms", "least", "most", "times opencl"], rows)

    def operations(self):
        one, other = (self.parts[n]["printed"] for n in ("steps, opencl", "steps, cpu"))
        rows = []
        for o, c in zip(one["operations"] + [one["run"]["whole"]], other["operations"] + [other["run"]["whole"]]):
            rows.append([o["name"], number(1e3 * o["seconds"])] +
                        ["-" if o[k] is None else number(scale * o[k]) for k, scale in (("gb_per_s", 1), ("bandwidth_share", 100), ("launches", 1))] +
                        [number(1e3 * c["seconds"]), number(c["seconds"] / o["seconds"])])
        text = table(["operation", "opencl ms", "GB/s", "% of bandwidth", "launches", "cpu ms", "cpu ms / opencl ms"], rows)
        return text + f"\n\nThe {one['bandwidth_name']} of `opencl` was {number(one['bandwidth_gb_per_s'])} GB/s, the " \
                      f"{other['bandwidth_name']} of `cpu` {number(other['bandwidth_gb_per_s'])} GB/s."

    def compared(self, kind):
        """Evaluations or projections: opencl beside cpu."""
        peak = bandwidth = 0
        if self.good("peak"):
            peak = 2 * max(m["Gfma/s-peak"] for m in self.benchmarks("peak").values())
        if self.good("steps, opencl"):
            bandwidth = self.parts["steps, opencl"]["printed"]["bandwidth_gb_per_s"]
        share = lambda v, of: number(100 * v / of) if v and of else "-"
        cpu, rows = self.benchmarks(f"{kind}, cpu"), []
        for name, m in self.benchmarks(f"{kind}, opencl").items():
            c = cpu.get(name)
            rows.append([name.removesuffix("/evaluate").replace("/", ", "), number(1e3 * m["seconds"]), number(m["GFLOP/s"]), share(m["GFLOP/s"], peak),
                         share(m.get("GB/s"), bandwidth)] + ([number(1e3 * c["seconds"]), number(c["seconds"] / m["seconds"])] if c else ["-", "-"]))
        text = table(["examples", "opencl ms", "GFLOP/s", "% of the fma peak", "% of bandwidth", "cpu ms", "cpu ms / opencl ms"], rows)
        return text + (f"\n\nThe fma peak of `opencl` was {number(peak)} GFLOP/s." if peak else "")

    def memory(self):
        rows = []
        if self.good("large", "large, little memory"):
            base = self.step("large")["seconds"]
            for name, label in (("large", "all there is"), ("large, little memory", self.run["allowed"])):
                r, o = self.parts[name]["printed"], self.step(name)
                rows.append([f"a step on {r['data']['examples']} × {r['data']['features']}, {r['example_bytes'] / 2**20:.0f} MiB", label,
                             number(1e3 * o["seconds"]), number(o["seconds"] / base)])
        if self.good("streamed"):
            m = self.benchmarks("streamed")
            found = {name.rsplit("/", 1)[-1]: v for name, v in m.items()}
            for name, label in (("resident", "all there is"), ("streamed", "a third of them, and copied")):
                rows.append(["rescoring two classes of 60000 × 784, 179 MiB", label, number(1e3 * found[name]["seconds"]),
                             number(found[name]["seconds"] / found["resident"]["seconds"])])
        return table(["what", "memory allowed", "ms", "times all there is"], rows, 2)

    def tuner(self):
        r = self.parts["tuner"]["printed"]
        count = lambda verdict: sum(c["verdict"] == verdict for c in r["candidates"])
        d = r["data"]
        text = f"On {d['examples']} × {d['features']}, {d['classes']} classes, {d['storage']}, of {len(r['candidates'])} candidates {count('faster')} were " \
               f"faster than the best until then, {count('REJECTED')} differed in a bit, {count('failed')} did not run. "
        changed = [f"{k} {r['default'][k]} → {v}" for k, v in r["best"].items() if v != r["default"].get(k)]
        if not changed:
            return text + "The default stayed the best."
        return text + f"Steps take {number(r['ratio'])} of the default's time with {', '.join(changed)}."

    def section(self, head, needs, text, about=""):
        if not self.good(*needs):
            text = lambda: "Not measured: " + "; ".join(f"{n}: {self.verdicts[n]}" for n in needs if not self.good(n)) + "."
        return f"## {head}\n{about}\n{text()}\n" if not about else f"## {head}\n\n{about}\n\n{text()}\n"

    def text(self):
        steps = "" if not self.good("steps, opencl") else self.describe("steps, opencl") + ". "
        return "\n".join([
            self.title(), "", self.machine(), "",
            "Made by `make bench-gpu` (bench/gpu/run.sh, then page.py). All figures are of one run, in which other work on the machine was not "
            "kept away; the ratios say more than the times.", "",
            self.section("Checks and parts", [], self.checks, "Conformance are the cases that every engine has to pass, to the bit; bench/same-bits.sh trains "
                         "the same model in many ways and compares W."),
            self.section("A step of UMA", ["steps, opencl", "steps, cpu"], self.steps, steps + "40 % pairwise noise, C known; the median step of a run, "
                         "the least and the most. torch makes its steps from Fashion-MNIST, the best way known to us (bench/peers/torch_step.py)."),
            self.section("Operations", ["steps, opencl", "steps, cpu"], self.operations, "`uma-gpu bench` on the same examples. GB are 10⁹ bytes of examples read."),
            self.section("An evaluation", ["evaluations, opencl", "evaluations, cpu"], lambda: self.compared("evaluations"),
                         "Scores, residuals, their weighted sums and the loss of one W; the fastest of several. Two operations for each term of the two products; "
                         "the bandwidth counts one reading of the stored values and their columns."),
            self.section("Projection on kernel principal components", ["projections, opencl", "projections, cpu"], lambda: self.compared("projections"),
                         "n examples, m landmarks; the kernel function is named first. No axes means the kernel values alone."),
            self.section("More than memory holds", [], self.memory, "The limit is one that the program is given. Devices that share the host's memory use in place "
                         "what does not fit; others have it streamed to them. Rescoring is told to copy on every device."),
            self.section("The tuner", ["tuner"], self.tuner)])


if __name__ == "__main__":
    page = Page(sys.argv[1])
    print(page.text(), end="")
    for name in page.failed():
        print(f"{name}: {page.verdicts[name]}; results.jsonl has what it told", file=sys.stderr)
    sys.exit(1 if page.failed() else 0)
