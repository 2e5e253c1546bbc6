#!/usr/bin/python3
"""Prints docs/performance.md: page.py results.json, which measure.py wrote."""
import json
import statistics
import sys


def number(v):
    """Three significant digits."""
    return f"{v:.0f}" if abs(v) >= 100 else f"{v:.3g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows])


class Page:
    def __init__(self, results):
        self.r, self.m, self.runs = results, results["machine"], results["runs"]

    def of(self, name, get):
        """A value of every run of a name."""
        return [get(r) for r in self.runs[name]]

    def spread(self, values, scale=1.0):
        """Median, least and most, as cells."""
        return [number(scale * f(values)) for f in (statistics.median, min, max)]

    def gpu(self):
        return [d for d in self.m["devices"] if "GPU" in d.get("type", "").upper()]

    def opencl(self):
        return self.runs["uma-gpu opencl"][0]["device"]

    def machine(self):
        m, blas = self.m, sorted({r["blas"] for name in self.runs if name.startswith("numpy") for r in self.runs[name]})
        torch = self.runs["torch"][0]
        gpu = "**No GPU was at hand.** Every figure, OpenCL's too, is of this processor; nothing here says how a GPU would do. " \
            "`--device auto` takes `cpu` on such a machine."
        if self.gpu():
            gpu = "GPU: " + ", ".join(d["name"] for d in self.gpu())
        peak = lambda name: number(statistics.median(self.of("evaluation", lambda r: r[name])))
        load = self.r["load"]
        return "\n".join([
            f"Measured on {m['date']}: {m['processor']}, {m['cores']} cores, {m['memory_gib']} GiB of memory, {m['system']}. " + gpu, "",
            f"- All cores together make {peak('gflop_per_s')} GFLOP/s by float32 fma and read {peak('gb_per_s')} GB/s of memory (bench/peers/peak.c, median of the runs)",
            f"- Load average before a measurement: median {number(statistics.median(load))}, most {number(max(load))}, at most {m['cores']} of it from the measurements, at niceness {self.r['nice']}",
            f"- uma-gpu {m['uma_gpu']['version']}, {m['uma_gpu']['go']}; device `opencl` is {self.opencl()['name']} ({self.opencl()['platform']}, driver {self.opencl()['driver']})",
            f"- Python {m['python']}, numpy {self.runs['numpy gemm'][0]['numpy']} with {'; '.join(blas)}",
            f"- scikit-learn {self.runs['sklearn'][0]['sklearn']}, liblinear-tools {m['liblinear']}",
            f"- torch: {'not measured (' + torch['skipped'] + ')' if 'skipped' in torch else torch['torch'] + ' on ' + torch['device']}",
        ])

    def data(self):
        d = self.runs["uma-gpu opencl"][0]["data"]
        return f"{d['examples']} examples × {d['features']} features (one of them a bias), {d['classes']} classes, {d['storage']}"

    def steps(self):
        base = statistics.median(self.of("uma-gpu opencl", lambda r: r["run"]["step"]["seconds"]))
        rows = []
        for name in self.runs:
            if name.startswith("uma-gpu"):
                values = self.of(name, lambda r: r["run"]["step"]["seconds"])
            elif name.startswith("numpy") or name == "torch" and "skipped" not in self.runs[name][0]:
                values = self.of(name, lambda r: r["seconds"])
            else:
                continue
            rows.append([name] + self.spread(values, 1e3) + [number(statistics.median(values) / base)])
        return table(["a step by", "ms", "least", "most", "times uma-gpu opencl"], rows)

    def operations(self):
        rows = []
        first = self.runs["uma-gpu opencl"][0]
        entries = [("operations", k) for k in range(len(first["operations"]))] + [("run", "step"), ("run", "whole")]
        for part, key in entries:
            row = [first[part][key]["name"]]
            for device in ("uma-gpu opencl", "uma-gpu cpu"):
                found = self.of(device, lambda r: r[part][key])
                row.append(number(1e3 * statistics.median(o["seconds"] for o in found)))
                for name, scale in (("gb_per_s", 1), ("bandwidth_share", 100)):
                    row.append("-" if found[0][name] is None else number(scale * statistics.median(o[name] for o in found)))
            o = first[part][key]
            rows.append(row + ["-" if o[name] is None else number(o[name]) for name in ("launches", "transfers")])
        head = ["operation", "opencl ms", "GB/s", "% of bandwidth", "cpu ms", "GB/s", "% of bandwidth", "launches", "transfers"]
        band = statistics.median(self.of("uma-gpu opencl", lambda r: r["bandwidth_gb_per_s"]))
        run, text = first["run"], table(head, rows)
        text += f"\n\nThe {first['bandwidth_name']} was {number(band)} GB/s (median of the runs; each is judged by its own)."
        if run["bytes_read_share"] is not None:
            text += (f" Over the whole run `opencl` read {number(100 * run['bytes_read_share'])} % of the examples' bytes in each step"
                     f" and computed the scores of {number(100 * run['rescored_share'])} % of the examples.")
        return text

    def learning(self):
        rows = []

        def add(name, labels, values, error, what, reached):
            rows.append([name, labels] + (self.spread(values) if reached else ["-", "-", "-"]) + [number(100 * error), what])

        for labels, suffix in (("right", ""), ("40 % wrong", " noisy")):
            for device in ("opencl", "cpu"):
                name = "learn " + device + suffix
                r = self.runs[name][0]
                add(f"uma-gpu {device}", labels, self.of(name, lambda r: r["seconds"]), r["error"], f"{r['steps']} steps", r["error"] <= self.r["error"])
            for learner in ("Perceptron", "SGDClassifier"):
                name = "sklearn" + suffix
                r = self.runs[name][0][learner]
                add("scikit-learn " + learner, labels, self.of(name, lambda r: r[learner]["seconds"]), r["error"], f"{r['passes']} pass" + "es" * (r["passes"] > 1), r["reached"])
            if not suffix:
                r = self.runs["liblinear"][0]
                reading = number(statistics.median(self.of("liblinear", lambda r: r["reading"])))
                add("liblinear -s 1", labels, self.of("liblinear", lambda r: r["seconds"]), r["error"],
                    f"-e {r['tolerance']}; with reading, which alone takes {reading} s", r["reached"])
        head = ["learner", "labels", "s", "least", "most", "test error, %", "after"]
        return table(head, rows).replace("|---|--:|", "|---|---|", 1)

    def evaluations(self):
        """One row for each engine and size, in the order of the first run."""
        runs = [{(e["engine"], e["form"], e["n"], e["d"], e["q"]): e for e in run["rows"]} for run in self.runs["evaluation"]]
        rows = []
        for key in runs[0]:
            engine, form, n, d, q = key
            of = lambda name: statistics.median(run[key][name] for run in runs)
            rows.append([f"{form}, {n} × {d}, Q = {q}", engine, number(1e3 * of("seconds")), number(100 * of("fma_share")),
                         number(100 * of("bandwidth_share")), number(1e3 * of("numpy")), number(of("numpy") / of("seconds"))])
        head = ["examples", "engine", "ms", "% of the fma peak", "% of bandwidth", "numpy's ms", "times uma-gpu's"]
        return table(head, rows).replace("|---|--:|", "|---|---|", 1)

    def online(self):
        rows = []
        for k, first in enumerate(self.runs["online"][0]["rows"]):
            of = lambda name: self.of("online", lambda r: r["rows"][k][name])
            rate, peer = of("passes_per_s"), of("sklearn_passes_per_s") if first["sklearn_passes_per_s"] else None
            rows.append([first["learner"]] + self.spread(rate) + [number(100 * statistics.median(of("fma_share")))]
                        + ([number(statistics.median(peer)), number(statistics.median(rate) / statistics.median(peer))] if peer else ["-", "-"]))
        grids = self.of("online", lambda r: r["grid"])
        of = lambda name: statistics.median(g[name] for g in grids)
        return table(["learner", "passes/s", "least", "most", "% of the fma peak", "scikit-learn's", "times it"], rows) + (
            f"\n\nA grid of 100 fits (PA-I, 20 aggressivenesses, 5 folds, 10 passes, {grids[0]['rows']} examples) takes "
            f"`uma-gpu compare --grid` {number(of('seconds'))} s with start and reading, GridSearchCV {number(of('sklearn_seconds'))} s, "
            f"{number(statistics.median(g['sklearn_seconds'] / g['seconds'] for g in grids))} times as long. The best fit has an accuracy of "
            f"{of('accuracy'):.4f} and {of('sklearn_accuracy'):.4f}.")

    def logistic(self):
        """Rows, and how many times as long scikit-learn takes."""
        rows, lengths = [], self.r["lengths"]
        of = lambda name: self.of(name, lambda r: r["seconds"])
        for label, name, what in (
                ("uma-gpu cpu", "logistic cpu", "near its minimum"), ("uma-gpu opencl", "logistic opencl", "near its minimum"),
                ("scikit-learn LogisticRegression", "sklearn logistic", "near its minimum"),
                ("uma-gpu cpu", "logistic to sgd cpu", "SGDClassifier's error"), ("uma-gpu opencl", "logistic to sgd opencl", "SGDClassifier's error"),
                ("uma-gpu cpu, which searches for a penalty", "logistic, search cpu", "end")):
            r = self.runs[name][0]
            rows.append([label, what] + self.spread(of(name)) + [number(100 * r["error"]), f"{r['steps']} iterations"])
        sgd = self.of("sklearn", lambda r: r["SGDClassifier"]["seconds"])
        rows.insert(5, ["scikit-learn SGDClassifier", "one pass"] + self.spread(sgd) + [number(100 * lengths["sgd"]), "1 pass"])
        ratio = lambda one, other: number(statistics.median(one) / statistics.median(other))
        head = ["learner", "until", "s", "least", "most", "test error, %", "after"]
        return table(head, rows).replace("|---|--:|", "|---|---|", 1) + (
            f"\n\nAt the minimum uma-gpu errs on {number(100 * lengths['logistic final'])} %, scikit-learn on {number(100 * lengths['sklearn logistic final'])} %. "
            f"LogisticRegression takes {ratio(of('sklearn logistic'), of('logistic cpu'))} times as long as `cpu` and "
            f"{ratio(of('sklearn logistic'), of('logistic opencl'))} times as long as `opencl`, SGDClassifier "
            f"{ratio(sgd, of('logistic to sgd cpu'))} and {ratio(sgd, of('logistic to sgd opencl'))} times as long.")

    def same_loss(self):
        rows = [[f"{r['data']}, {r['n']} × {r['d']}, Q = {r['q']}", f"{r['l2']:g}", f"{r['sklearn']:.9f}", f"{r['relative']:.1e}"]
                for r in self.r["same_loss"]["rows"]]
        return table(["examples", "λ", "scikit-learn's loss", "uma-gpu's above it, relative"], rows)

    def kernel_mean(self):
        """What the program and its peers took, and how many times as long the peers took."""
        runs, rows = self.runs["kernel mean"], []
        add = lambda name, taken: rows.append([name] + self.spread([t["seconds"] for t in taken]) + [
            number(statistics.median(t[what] for t in taken)) for what in ("cpu", "mib")])
        add("uma-gpu predict, with reading and writing", [r["uma"] for r in runs])
        add("of one example, which is reading the model", [r["one"] for r in runs])
        add("scikit-learn's rbf_kernel @ weights", [r["sklearn"] for r in runs])
        add("uma-gpu train, by all examples", [r["train"] for r in runs])
        far, first = self.runs["farthest"], runs[0]
        rows.append(["farthest-first traversal, uma-gpu"] + self.spread([r["uma_seconds"][0] for r in far])
                    + [number(statistics.median(r[what] for r in far)) for what in ("uma_cpu_seconds", "uma_mib")])
        rows.append(["the same, numpy"] + self.spread([r["numpy_seconds"] for r in far]) + ["-", "-"])
        times = lambda what: number(statistics.median(r["sklearn"][what] / r["uma"][what] for r in runs))
        return table(["", "s", "least", "most", "processor s", "MiB"], rows) + (
            f"\n\nscikit-learn takes {times('seconds')} times as long, and {times('cpu')} times as much of the processors; numpy "
            f"{number(statistics.median(r['numpy_seconds'] / r['uma_seconds'][0] for r in far))} times as long for {far[0]['k']} "
            f"centres. Scores are off by {first['scores_off']:.1e} at most from float64's, of the largest of an example; the "
            f"linear mean's weights by {first['linear_off']:.1e} from numpy's class means.")

    def scaling(self):
        steps = {tuple(s): self.of("scaling %d,%d,%d" % tuple(s), lambda r: r["run"]["step"]["seconds"]) for s in self.r["shapes"]}
        base = (60000, 784, 10)
        rows = []
        for (n, d, q), times in steps.items():
            times_base = statistics.median(times) / statistics.median(steps[base])
            rows.append([f"{n} × {d}, Q = {q}"] + self.spread(times, 1e3) + [number(times_base), number(n * d / (base[0] * base[1]))])
        return table(["synthetic examples", "ms a step", "least", "most", "times that of 60000 × 784, Q = 10", "n·d, likewise"], rows)

    def text(self):
        return f"""# How fast is it?

Made by `make bench-peers` (bench/peers/measure.py, page.py). Figures are medians of {self.r['rounds']} runs of each
program, taken in turns, with the least and the most.

{self.machine()}

## A step of UMA

Fashion-MNIST (Debian's dataset-fashion-mnist): {self.data()}. It is prepared
with `standardize,bias,l2` and has 40 % pairwise label noise; C is known. numpy computes all scores, all class sums and
all update vectors. For class sums, `masked` selects and adds each cell, and `gemm` multiplies by the one-hot labels.
uma-gpu computes only what the last step changed. AVX-512 is OpenBLAS with
OPENBLAS_CORETYPE=SkylakeX. The median step of a run is shown: of {self.runs['uma-gpu opencl'][0]['run']['steps']} steps of uma-gpu, of {self.runs['numpy gemm'][0]['steps']} of numpy.

{self.steps()}

## An evaluation

Scores, softmax, corrected residuals, loss and weighted sums of one W in float32, beside numpy's without
correction (scipy's for sparse examples, with the better OpenBLAS). The fma peak counts two operations for
each term of the two products, the bandwidth one reading of the examples (bench/peers/evaluation.py).

{self.evaluations()}

## Online learners

Fashion-MNIST, 10 passes, one core each, both on prepared examples. A pass of uma-gpu includes counting the
predictions. The fma peak is that of one core, by the scores alone (bench/peers/online.py).

{self.online()}

## Operations

`uma-gpu bench` on the same data. GB are 10⁹ bytes of examples read, as the engine counts them. Launches and
transfers are of `opencl`; `-` is not counted. An engine may put off work to a later call, so trust the step.

{self.operations()}

## Logistic regression with right labels

Seconds of training alone, on the same examples, by L-BFGS with scikit-learn's penalty, λ = 1/60,000. Near its
minimum is a test error at most {number(100 * (self.r['near'] - 1))} % above the program's own minimum. The iterations are the least
that get there. SGDClassifier makes one pass with all processors.

{self.logistic()}

## The kernel mean

Scores of {self.runs['kernel mean'][0]['m']} examples by the means of {self.runs['kernel mean'][0]['n']} × {self.runs['kernel mean'][0]['d']} and 10 classes, all of them atoms (bench/peers/kernelmean.py);
scikit-learn has its arrays in memory, in pieces of 2000 examples. Farthest-first traversal is of Fashion-MNIST's {self.runs['farthest'][0]['n']} images (bench/peers/atoms.py).

{self.kernel_mean()}

## The same minimum

Right labels, rows of length 1, no bias; losses of both programs' weights in float64
(bench/peers/same_loss.py). Below 0 uma-gpu's loss is smaller. The goal is at most 1e-6.

{self.same_loss()}

## UMA: time to a test error of {number(100 * self.r['error'])} %

Seconds of training alone: no reading (except liblinear), no preparation, no upload. `-` means that the error
was not reached. Peers do not know C, so the lines with wrong labels say what C is worth, not who is
faster. uma-gpu makes the least of 10, 20, 40, … steps that get there; liblinear runs on one core.

{self.learning()}

## How the cost of a step grows

`uma-gpu bench --synthetic n,d,Q` on `opencl`, median step of a run. The goal is growth no faster than n·d. From Q = 10 to Q = 50 it is a factor of at most 1.2 where few
classes change. In these sets many examples
change their class in each step.

{self.scaling()}
"""


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        print(Page(json.load(f)).text(), end="")
