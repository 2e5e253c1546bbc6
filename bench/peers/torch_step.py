#!/usr/bin/env python3
"""UMA's step and an evaluation in torch, on a GPU if there is one: torch_step.py DIR STEPS

The best way known to us with torch's own operations, in float32: in a step only the two
classes that changed are scored again, and only examples that change their cell are moved
between class sums. An evaluation is scores, softmax, loss and X' times the residuals.
Prints one JSON object; without torch it has only the reason, under "skipped".
"""
import json
import sys
import time

try:
    import numpy as np
    import torch
except ImportError as e:
    print(json.dumps({"skipped": f"python3 on the path says: {e}"}))
    sys.exit(0)


def evaluation(x, y, w, wait, times=20):
    """The median seconds of several."""
    target = torch.nn.functional.one_hot(y, len(w)).float()
    seconds = []
    for _ in range(times):
        wait()
        start = time.perf_counter()
        logarithms = torch.log_softmax(x @ w.T, 1)
        loss = -(logarithms * target).sum()
        (logarithms.exp() - target).T @ x
        loss.item()
        wait()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds[1:]))


def main(folder, steps):
    steps = int(steps)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    torch.backends.cuda.matmul.allow_tf32 = False
    x = torch.from_numpy(np.load(folder + "/x.npy")).to(device)
    y = torch.from_numpy(np.load(folder + "/noisy.npy")).long().to(device)
    n, d = x.shape
    q = int(y.max()) + 1
    c = np.loadtxt(folder + "/C.csv", delimiter=",", skiprows=1)[:, 1:]
    exact = np.linalg.inv(c)
    inverse = torch.from_numpy(exact.astype(np.float32)).to(device)
    w = torch.zeros(q, d, device=device)
    scores = torch.zeros(n, q, device=device)
    sums = torch.zeros(q * q, d, device=device)
    cell = torch.full((n,), -1, device=device)
    diagonal = torch.eye(q, dtype=torch.bool, device=device)
    seconds, estimated = [], 1.0
    for done in range(steps):
        wait()
        start = time.perf_counter()
        # Equal scores mean the first class, which argmax does not promise.
        now = scores.argmax(1) * q + y if done else y
        moved = (now != cell).nonzero().squeeze(1)
        rows, was = x[moved], cell[moved]
        sums.index_add_(0, now[moved], rows)
        old = was >= 0
        sums.index_add_(0, was[old], rows[old], alpha=-1)
        cell = now
        z = torch.matmul(inverse, sums.view(q, q, d)) / n
        norms = (z * z).sum(2).masked_fill(diagonal, -1)
        # z[p,r] is a mistake of W if its class p scores at least as much as r.
        v = torch.einsum("prd,cd->prc", z, w)
        own = v.diagonal(dim1=1, dim2=2)  # v[p,r,r]
        other = torch.stack([v[p, :, p] for p in range(q)])
        norms = norms.masked_fill(other - own < 0, -1)
        p, r = divmod(int(norms.argmax()), q)
        w[p] -= z[p, r]
        w[r] += z[p, r]
        scores[:, [p, r]] = x @ w[[p, r]].T
        wait()
        seconds.append(time.perf_counter() - start)
        counts = torch.bincount(cell, minlength=q * q).view(q, q).cpu().numpy()
        estimated = min(estimated, 1 - (counts / n * exact).sum())
    name = torch.cuda.get_device_name() if device == "cuda" else "the processor"
    print(json.dumps({"seconds": float(np.median(seconds[1:])), "steps": steps, "estimated_error": float(estimated),
                      "evaluation": evaluation(x, y, w, wait), "torch": torch.__version__, "device": name}))


if __name__ == "__main__":
    main(*sys.argv[1:])
