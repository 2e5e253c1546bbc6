#!/usr/bin/python3
"""Prints docs/performance.md: page.py results.json, which measure.py wrote."""
import json
import math
import statistics
import sys
import textwrap

NEAR = 0.002  # of the least error
TITLES = {"uma-gpu": "uma-gpu", "uma-gpu-rbf": "uma-gpu rbf", "forward": "forward", "forward-search": "forward, λ searched",
          "logistic": "Logistic", "sgd": "SGD", "torch": "torch", "nystroem": "Nyström", "nystroem-forward": "Nyström forward",
          "torch-network": "torch network", "svc": "SVC", "boosting": "boosting"}
LINEAR = ["forward", "forward-search", "logistic", "sgd", "torch"]
KNOWING = {"forward", "forward-search", "nystroem-forward", "torch", "torch-network"}


def number(v):
    """Three significant digits."""
    return f"{v:.0f}" if abs(v) >= 100 else f"{v:.3g}"


def table(head, rows, words=1):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * words + "--:|" * (len(head) - words)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows])


def wrapped(text):
    """Lines of at most 100 characters, but for tables and headings."""
    fill = lambda line: textwrap.fill(line, 100, subsequent_indent="  " * line.startswith("- "), break_long_words=False, break_on_hyphens=False)
    join = lambda part: part if part.startswith(("|", "#")) else "\n".join(map(fill, part.replace("\n- ", "\0- ").replace("\n", " ").split("\0")))
    return "\n\n".join(map(join, text.strip().split("\n\n"))) + "\n"


class Page:
    def __init__(self, results):
        self.r, self.m, self.runs = results, results["machine"], {}
        for key, of in results["runs"].items():
            data, noise, name = key.split(" ")
            self.runs.setdefault((data, noise), {})[name] = of

    def seconds(self, case, name, bare=False):
        """The median, without the interpreter's start and imports if bare."""
        return statistics.median(self.runs[case][name]["bare" if bare else "taken"])

    def reached(self, case, names, most, bare=False):
        """Seconds and name of the quickest of names with at most an error, or None."""
        of = self.runs[case]
        return min(((self.seconds(case, n, bare), n) for n in names if n in of and of[n]["taken"] and of[n]["error"] <= most + 1e-9), default=None)

    def race(self, own, rivals, linear=""):
        """Returns the table of seconds until the rivals' best error, and a summary."""
        rows, ratios, bare, least, whole = [], [], [], {}, 0
        for case, of in self.runs.items():
            errors = [of[n]["error"] for n in rivals if n in of and of[n]["taken"]]
            if not errors or "uma-gpu" not in of:
                continue
            most = min(errors) + NEAR
            knowing = [n for n in rivals if n in KNOWING or case[1] == "none"]
            us, them, informed = (self.reached(case, names, most) for names in (own, rivals, knowing))
            won = us is not None and us < them
            least.setdefault(case[0], []).append(won)
            if us and informed:
                ratios.append(informed[0] / us[0])
                bare.append(self.reached(case, knowing, most, True)[0] / us[0])
            cell = lambda found: [TITLES[found[1]], number(found[0])] if found else ["-", "-"]
            rows.append([f"{case[0]}, {case[1]}", number(100 * most), *cell(us), *cell(informed), *cell(them),
                         number(ratios[-1]) if us and informed else "-", "yes" if won else "no"])
        mean = lambda values: number(math.exp(statistics.fmean(map(math.log, values)))) if values else "-"
        cases = [won for of in least.values() for won in of]
        text = (f"Ours takes the least in {sum(cases)} of {len(cases)} cases, and in every case on {sum(map(all, least.values()))} of {len(least)} sets. "
                f"The fastest rival that knows C takes {mean(ratios)} times as long, and {mean(bare)} times without its start and "
                f"imports: geometric means of the {len(ratios)} cases where both get there.")
        head = ["set, noise", "error, %", "ours", "s", "fastest that knows C", "s", "fastest rival", "s", "times ours", "least"]
        lines = table(head, rows).split("\n")
        lines[1] = "|---|--:|---|--:|---|--:|---|--:|--:|---|"
        if linear:
            text += "\n\nAmong linear programs alone: o" + linear.split("\n")[0][1:]
        return text + "\n\n" + "\n".join(lines)

    def grid(self, cell):
        """A table with a row for each case and a column for each program."""
        names = [n for n in TITLES if any(n in of for of in self.runs.values())]
        rows = [[f"{case[0]}, {case[1]}"] + [cell(case, n, of[n]) if n in of else "" for n in names] for case, of in self.runs.items()]
        return table(["set, noise"] + [TITLES[n] for n in names], rows)

    def error(self, case, name, of):
        return number(100 * of["error"]) if of["taken"] else "-"

    def evaluations(self):
        if "evaluation" not in self.r:
            return "Not measured."
        rows = [[f"{e['form']}, {e['n']} × {e['d']}, Q = {e['q']}", e["engine"], number(1e3 * e["seconds"]), number(100 * e["fma_share"]),
                 number(100 * e["bandwidth_share"]), number(e.get("cached_gb_per_s")) if e.get("cached_gb_per_s") else "", number(1e3 * e["numpy"]), number(e["numpy"] / e["seconds"])] for e in self.r["evaluation"]["rows"]]
        head = ["examples", "engine", "ms", "% of the fma peak", "% of bandwidth", "GB/s of caches", "numpy's ms", "times uma-gpu's"]
        return table(head, rows, 2) + (f"\n\nAll cores together make {number(self.r['evaluation']['gflop_per_s'])} GFLOP/s by float32 fma and read "
                                       f"{number(self.r['evaluation']['gb_per_s'])} GB/s of memory (bench/peers/peak.c).")

    def same_loss(self):
        if "same_loss" not in self.r:
            return "Not measured."
        rows = [[f"{r['data']}, {r['n']} × {r['d']}, Q = {r['q']}", f"{r['l2']:g}", f"{r['sklearn']:.9f}", f"{r['relative']:.1e}"]
                for r in self.r["same_loss"]["rows"]]
        return table(["examples", "λ", "scikit-learn's loss", "uma-gpu's above it, relative"], rows)

    def text(self):
        m, v, load = self.m, self.m["versions"], self.r["load"]
        devices = sorted({of[n]["device"] for of in self.runs.values() for n in of if "device" in of[n]})
        return f"""# How fast is it?

Made by `make bench-peers` (bench/peers/measure.py, page.py). Measured on {m['date']}: {m['processor']}, {m['cores']} cores,
{m['memory_gib']} GiB of memory, {m['system']}. uma-gpu {m['uma_gpu']['version']} on {'; '.join(devices)}, Python {m['python']},
numpy {v['numpy']}, scipy {v['scipy']}, scikit-learn {v['sklearn']}, torch {v['torch']}.
The load average before a measurement was {number(statistics.median(load))} (median), {number(max(load))} at most.{'' if v['torch'] != 'not installed' else ' So torch has no column.'}

## From start to model

Each training is a process of its own on two processors. It is timed from its start until its model is ready, with Python's
imports and the reading of the files. Seconds are medians of up to three runs; a training of more than {self.r['limit']:g} s is ended. All
programs have their defaults, and read the same `.npy` or LIBSVM files (bench/peers/sets.py). uma-gpu searches for its
penalty. Rivals get pixels divided by 255, other dense features standardised, as pixels are for forward (bench/peers/rival.py).

- forward: scipy's L-BFGS, 40 iterations, of the loss that is corrected by C, λ = 1e-5; or λ searched on held-out labels.
- Nyström: 1000 landmarks and LogisticRegression; forward, that loss instead, with γ and λ searched.
- Logistic, SGD, SVC (rbf), boosting: scikit-learn's LogisticRegression, SGDClassifier, SVC, HistGradientBoostingClassifier.
- torch: Adam, 20 passes, that loss; a network has one layer of 256.

Logistic, SGD, SVC, Nyström and boosting do not know C. The noise is pairwise or symmetric, 40 %; own is noise of people:
CIFAR-10N's worse labels, NoisyAG-News, and the votes on music_genre, with C from the right labels. Pairwise and symmetric
noise of banana's two classes are the same. Text is learned by linear programs alone.

### Until the best error

Seconds of the quickest program whose error is at most {number(100 * NEAR)} points above the least of the rivals; `-` if none has it.

{self.race(['uma-gpu', 'uma-gpu-rbf'], [n for n in TITLES if not n.startswith('uma-gpu')], self.race(['uma-gpu'], LINEAR))}

### Test error, %

`-` was ended by the limit.

{self.grid(self.error)}

## An evaluation

Scores, softmax, corrected residuals, loss and weighted sums of one W in float32, beside numpy's without correction (scipy's for
sparse examples, with the better OpenBLAS). The fma peak counts two operations for each term of the two products, the bandwidth
one reading of the examples. Sparse examples are judged by what goes through the caches: each value
twice with its place, Q weights and Q coefficients. The least of three runs (bench/peers/evaluation.py).

{self.evaluations()}

## The same minimum

Right labels, rows of length 1, no bias; losses of both programs' weights in float64 (bench/peers/same_loss.py). Below 0 uma-gpu's
loss is smaller. The goal is at most 1e-6.

{self.same_loss()}
"""


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        print(wrapped(Page(json.load(f)).text()), end="")
