#!/usr/bin/env python3
"""The same work by torch, and by scikit-learn on torch, on a GPU if there is one: torch_runs.py N D Q STEPS

UMA's step in the best way known to us with torch's own operations, in float32: only the two
classes that changed are scored again, and only examples that change their cell are moved
between class sums. An evaluation is scores, softmax, loss and X' times the residuals; once
with the GPU's short multiplications (TF32), too. A training is logistic regression by L-BFGS,
in STEPS iterations; scikit-learn's is that of its array API.
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

PENALTY = 1e-4
NOISE = 0.4
PAIRS = 50  # classes; class sums of all pairs of more are too large
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
wait = torch.cuda.synchronize if DEVICE == "cuda" else lambda: None


def timed(f):
    wait()
    start = time.perf_counter()
    f()
    wait()
    return time.perf_counter() - start


def evaluation(x, y, w, times=20):
    """The median seconds of several."""
    target = torch.nn.functional.one_hot(y, len(w)).float()

    def once():
        logarithms = torch.log_softmax(x @ w.T, 1)
        loss = -(logarithms * target).sum()
        (logarithms.exp() - target).T @ x
        loss.item()

    return float(np.median([timed(once) for _ in range(times)][1:]))


def training(x, y, q, steps):
    """Seconds, iterations and loss of logistic regression."""
    w = torch.zeros(q, x.shape[1], device=x.device, requires_grad=True)
    lbfgs = torch.optim.LBFGS([w], max_iter=steps, max_eval=4 * steps, tolerance_grad=0, tolerance_change=0,
                              line_search_fn="strong_wolfe")

    def loss():
        lbfgs.zero_grad()
        value = torch.nn.functional.cross_entropy(x @ w.T, y) + PENALTY / 2 * (w * w).sum()
        value.backward()
        return value

    seconds = timed(lambda: lbfgs.step(loss))
    return {"seconds": seconds, "steps": lbfgs.state[w]["n_iter"], "loss": loss().item()}


def scikit_learn(x, y, steps):
    """The same by scikit-learn, if this one can."""
    try:
        import sklearn
        from sklearn.linear_model import LogisticRegression

        with sklearn.config_context(array_api_dispatch=True):
            model = LogisticRegression(C=1 / (PENALTY * len(x)), max_iter=steps, tol=0, fit_intercept=False)
            seconds = timed(lambda: model.fit(x, y))
        return {"seconds": seconds, "steps": int(model.n_iter_[0]), "version": sklearn.__version__}
    except Exception as e:  # whatever an older one says of what it has not
        return {"skipped": f"{type(e).__name__}: {e}"[:200]}


def step(x, y, q, steps):
    """The median seconds of UMA's steps, and the error that they have come to."""
    n, d = x.shape
    exact = np.linalg.inv((1 - NOISE) * np.eye(q) + NOISE * np.roll(np.eye(q), 1, 0))
    inverse = torch.from_numpy(exact.astype(np.float32)).to(x.device)
    w = torch.zeros(q, d, device=x.device)
    scores = torch.zeros(n, q, device=x.device)
    sums = torch.zeros(q * q, d, device=x.device)
    cell = torch.full((n,), -1, device=x.device)
    diagonal = torch.eye(q, dtype=torch.bool, device=x.device)

    def once(first):
        nonlocal cell
        # Equal scores mean the first class, which argmax does not promise.
        now = y if first else scores.argmax(1) * q + y
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

    seconds, estimated = [], 1.0
    for done in range(steps):
        seconds.append(timed(lambda: once(not done)))
        counts = torch.bincount(cell, minlength=q * q).view(q, q).cpu().numpy()
        estimated = min(estimated, 1 - (counts / n * exact).sum())
    return {"seconds": float(np.median(seconds[1:])), "estimated_error": float(estimated)}


def main(n, d, q, steps):
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    x = torch.randn(n, d, device=DEVICE)
    x /= x.norm(dim=1, keepdim=True)
    y = (x @ torch.randn(q, d, device=DEVICE).T).argmax(1)
    y = torch.where(torch.rand(n, device=DEVICE) < NOISE, (y + 1) % q, y)
    found = {"torch": torch.__version__, "steps": steps,
             "device": torch.cuda.get_device_name() if DEVICE == "cuda" else "the processor",
             "training": training(x, y, q, steps), "scikit-learn": scikit_learn(x, y, steps)}
    w = 0.01 * torch.randn(q, d, device=DEVICE)
    found["evaluation"] = evaluation(x, y, w)
    if DEVICE == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = True
        found["evaluation_tf32"] = evaluation(x, y, w)
        torch.backends.cuda.matmul.allow_tf32 = False
    if q <= PAIRS:
        found["step"] = step(x, y, q, steps)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
