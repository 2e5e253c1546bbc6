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
cd "$venv"
$alone env -u UMA_GPU PATH=/usr/bin:/bin bin/python - <<'END'
import numpy as np
from sklearn.datasets import load_digits
import umagpu

X, right = load_digits(return_X_y=True)
wrong = np.random.RandomState(0).rand(len(right)) < 0.3
y = np.where(wrong, (right + 1) % 10, right)
issues = umagpu.find_label_issues(y, X=X, return_indices_ranked_by="label_quality")
model = umagpu.NoisyClassifier(confusion="estimate", kernel="rbf").fit(X, y)
print(f"{len(issues)} issues, {wrong[issues].mean():.2f} of them wrong labels; "
      f"accuracy {model.score(X, right):.3f}")
assert wrong[issues].mean() > 0.9 and model.score(X, right) > 0.95
END
