#!/usr/bin/env python3
"""Prints docs/gpu.md: page.py FOLDER, which run.sh filled. Exits with 1 if a measurement failed."""
import glob
import json
import re
import sys

BENCHMARK = re.compile(r"^Benchmark(\w+)/([^/]+)/?(.*?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op(.*)$", re.M)

CHECKS = """Conformance are the cases that every engine has to pass, to the bit; bench/same-bits.sh trains the same models
in many ways and compares W."""
STEPS = """40 % pairwise noise, C known, one pair of classes corrected in a step."""
LEARNING = "The same examples, C known, one penalty. A step has one or more evaluations."
DEVICE = "Medians. The share of the memory is what could be written to, all at once."
PROFILE = """Medians of 20. The roofline is the larger of the multiply-adds at their peak and the bytes, read once, at
the bandwidth of copies."""
VARIANTS = """The form for GPUs, medians of 20 in ms. Variants in the contract's order may differ in no bit; the others
say what the order costs."""
FITS = """Logistic regression, one penalty, and what torch and scikit-learn do of it on data of the same size. torch's
evaluation is plain: no C, no exact sums, no fixed order; with TF32 it has 10 bits of each factor."""
MEMORY = """The limit is one that the program is given. What does not fit is streamed."""


def number(v):
    """Three significant digits."""
    return f"{v:.0f}" if abs(v) >= 100 else f"{v:.3g}"


def table(head, rows, text=1):
    """A table whose first columns, as many as text says, are text."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * text + "--:|" * (len(head) - text)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows])


class Page:
    def __init__(self, folder):
        lines = []
        for path in sorted(glob.glob(folder + "/[A-E].jsonl")):
            with open(path) as f:
                lines += [json.loads(line) for line in f]
        self.run, self.parts = lines[0], {p["part"]: p for p in lines if "part" in p}
        listed = self.parts.get("devices", {}).get("printed")
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
        if "skipped" in p["printed"]:
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
            return "There is no list of devices: part A makes it."
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
        d = self.printed(name)
        return f"Synthetic examples, {d['examples']} × {d['features']}, {len(d['classes'])} classes. "

    def trained(self, name):
        """Seconds of the steps of a training, and their number."""
        run = self.printed(name)
        return run["seconds"]["train"], run["steps"]

    def found(self):
        rows = [[name.replace("_", " "), ", ".join(f"{number(v)} {unit}" for unit, v in m.items() if unit != "seconds")]
                for name, m in self.benchmarks("the device").items()]
        return table(["what", "found"], rows, 2)

    def profile(self):
        found = self.benchmarks("profile")
        peak = found.pop("peak")
        rows = [[name.replace("_", " "), number(m["ms"]), number(m["%roofline"])] for name, m in found.items()]
        return table(["operation", "ms", "% of the roofline"], rows, 1) + \
            f"\n\nThe peak was {number(2 * peak['Gfma/s'])} GFLOP/s, the bandwidth {number(peak['GB/s'])} GB/s."

    def variants(self):
        found, rows, works = {}, {}, []
        for name, m in self.benchmarks("variants").items():
            variant, work = name.replace("_", " ").split("/")
            found[variant, work] = m
            works += [work] * (work not in works)
            rows.setdefault(variant, []).append(m)
        return table(["variant"] + works + ["numbers that differ"],
                     [[variant] + [number(found[variant, w]["ms"]) if (variant, w) in found else "-" for w in works] +
                      [number(sum(m["differ"] for m in all_of))] for variant, all_of in rows.items()])

    def fits(self):
        rows = []
        for fit in (name.removesuffix(", opencl") for name in self.parts if re.fullmatch("fit .*, opencl", name)):
            of = " × ".join(fit.split()[1].split(",")[:3])
            if self.good(fit + ", opencl"):
                seconds, steps = self.trained(fit + ", opencl")
                rows.append([of, "uma-gpu opencl", "-", f"{number(seconds)} ({steps})"])
            if not self.good(fit + ", torch"):
                continue
            t = self.printed(fit + ", torch")
            name, sklearn = f"torch {t['torch']}, {t['device']}", t["scikit-learn"]
            rows.append([of, name, number(1e3 * t["evaluation"]),
                         f"{number(t['training']['seconds'])} ({t['training']['steps']})"])
            if "evaluation_tf32" in t:
                rows.append([of, name + ", TF32", number(1e3 * t["evaluation_tf32"]), "-"])
            rows.append([of, f"scikit-learn {sklearn.get('version', '')} on it", "-", sklearn.get("skipped") or
                         f"{number(sklearn['seconds'])} ({sklearn['steps']})"])
            if "step" in t:
                rows.append([of, name + f": a step of UMA takes {number(1e3 * t['step']['seconds'])} ms", "-", "-"])
        return table(["size", "by", "an evaluation, ms", "a training, s (iterations)"], rows, 2)

    def steps(self, learner):
        """The trainings of a learner on both devices."""
        base, rows = None, []
        for device in "opencl", "cpu":
            seconds, steps = self.trained(f"{learner}, {device}")
            base = base or seconds / steps
            rows.append(["uma-gpu " + device, number(1e3 * seconds / steps), number(seconds / steps / base),
                         f"{number(seconds)} ({steps})"])
        return table(["by", "a step, ms", "times opencl", "a training, s (steps)"], rows)

    def memory(self):
        rows = []
        if self.good("large", "large, little memory"):
            base = self.trained("large")[0]
            for name, label in (("large", "all there is"), ("large, little memory", self.run["allowed"])):
                r, (seconds, steps) = self.printed(name), self.trained(name)
                rows.append([f"{steps} steps on {r['examples']} × {r['features']}", label, number(1e3 * seconds),
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
            self.section("A step of UMA", steps, lambda: self.steps("steps"), data + STEPS),
            self.section("Logistic regression", ["logistic, opencl", "logistic, cpu"],
                         lambda: self.steps("logistic"), LEARNING),
            self.section("The device", ["the device"], self.found, DEVICE),
            self.section("Profile", ["profile"], self.profile, PROFILE),
            self.section("Variants", ["variants"], self.variants, VARIANTS),
            self.section("Trainings, and the price of bits", [], self.fits, FITS),
            self.section("More than memory holds", [], self.memory, MEMORY)])


if __name__ == "__main__":
    page = Page(sys.argv[1])
    print(page.text(), end="")
    for name in page.failed():
        print(f"{name}: {page.verdicts[name]}; PART.jsonl has what it told", file=sys.stderr)
    sys.exit(1 if page.failed() else 0)
