#!/bin/sh
# packaging/wheel-check.sh WHEEL VENV: installs the wheel in a new environment and runs README's example.
#
# Debian's numpy and scikit-learn are seen. There is no network, where the kernel lets a process have none.
set -eu
wheel=$(realpath "$1") venv=$2
alone=
if unshare -n true 2>/dev/null; then alone="unshare -n"; fi
rm -rf "$venv"
/usr/bin/python3 -m venv --system-site-packages "$venv"
$alone "$venv/bin/pip" install --quiet --no-index "$wheel"
readme=$(sed -n '/^```python$/,/^```$/p' README.md | grep -v '^```')
cd "$venv"
$alone env -u UMA_GPU PATH=/usr/bin:/bin bin/python - <<END
import numpy as np
from sklearn.datasets import load_digits

X, right = load_digits(return_X_y=True)
wrong = np.random.RandomState(0).rand(len(right)) < 0.3
y, X_new = np.where(wrong, (right + 1) % 10, right), X
$readme
print(f"{issues.sum()} issues, {wrong[issues].mean():.2f} of them wrong labels; "
      f"accuracy {(classes == right).mean():.3f}")
assert wrong[issues].mean() > 0.9 and (classes == right).mean() > 0.93
END
