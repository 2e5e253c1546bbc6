#!/usr/bin/python3
"""Ways to train beside each other, by their test error: the tables of docs/learners.md or docs/weights.md.

usage: learners.py UMA_GPU DATA RESULTS learners|weights [SET...]

Ten sets, each with right labels, pairwise 40 %, symmetric 40 % and random noise, and three sets whose labels people gave. RESULTS,
a JSON object on each line, has what was measured; that is not measured again. Prints Markdown.
"""
import json
import sys
import tempfile

import numpy as np
from cases import NOISES, OWN, SETS, Case, known

UMA = "--learner uma --max-steps 512 --step "
BLIND = " "  # ends the flags of ways that are not told C
WAYS = {
    "learners": {"softmax": "", "em": "--correction em", "backward": "--correction backward", "softmax, no C": BLIND, "uma": "--learner uma",
                 "uma, no C": "--learner uma" + BLIND, "classmean": "--learner classmean",
                 "classmean, no C": "--learner classmean" + BLIND},
    "weights": {"pair, best": UMA + "pair --doubt 0 --weights best", "pair": UMA + "pair --doubt 0", "region": UMA + "region --doubt 0",
                "all, average": UMA + "all --doubt 0 --weights average", "all": UMA + "all --doubt 0", "all, doubt 1": UMA + "all",
                "all, doubt 1.4": UMA + "all --doubt 1.4", "all, no C": UMA + "all" + BLIND},
}


def line(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")


def main():
    program, data, results, what, *only = sys.argv[1:]
    ways = WAYS[what]
    done = {(r["set"], r["noise"], r["flags"]): r for r in known(results)}
    rows = [(name, noise) for name in only or SETS for noise in ["none", *NOISES]]
    rows += [(name, noise) for name in OWN if name in (only or OWN) for noise in ("none", "people")]
    with tempfile.TemporaryDirectory() as folder:
        for name, noise in rows:
            missing = [flags for flags in ways.values() if (name, noise, flags) not in done]
            case = Case(program, folder, name, noise, data) if missing else None
            for flags in missing:
                told = [] if noise == "none" or flags.endswith(BLIND) else ["--confusion", case.true]
                error, seconds = case.error(*flags.split(), *told)
                done[name, noise, flags] = r = {"set": name, "noise": noise, "flags": flags, "error": error, "seconds": seconds}
                print(json.dumps(r), file=open(results, "a"))
    # A way that learns nothing counts as wrong.
    cell = lambda row, flags, of="error": (lambda v: 1 if v is None else v)(done[(*row, flags)][of])
    errors = np.array([[cell(row, flags) for flags in ways.values()] for row in rows])
    ranks = 1 + (errors[:, :, None] > errors[:, None, :]).sum(2) + ((errors[:, :, None] == errors[:, None, :]).sum(2) - 1) / 2
    excess = errors - errors.min(1, keepdims=True)
    print("| way | `uma-gpu train` | mean error, % | mean rank | mean excess over the least | largest excess | processor seconds |\n|---|---|" + "--:|" * 5)
    for k, (way, flags) in enumerate(ways.items()):
        worst = rows[int(excess[:, k].argmax())]
        seconds = sum(cell(row, flags, "seconds") for row in rows)
        line(way, f"`{flags.strip()}`" if flags.strip() else "", f"{100 * errors[:, k].mean():.1f}", f"{ranks[:, k].mean():.2f}",
             f"{100 * excess[:, k].mean():.1f}", f"{100 * excess[:, k].max():.1f} ({', '.join(worst)})", f"{seconds:.0f}")
    shown_ways = [k for k, way in enumerate(ways) if way not in ("uma, no C", "classmean, no C")]
    print("\n| test error in % | " + " | ".join(list(ways)[k] for k in shown_ways) + " |\n|---|" + "--:|" * len(shown_ways))
    for row, values in zip(rows, errors[:, shown_ways]):
        shown = [f"{100 * v:.1f}" for v in values]
        line(", ".join(row), *[f"**{v}**" if v == f"{100 * values.min():.1f}" else v for v in shown])


if __name__ == "__main__":
    main()
