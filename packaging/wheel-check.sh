#!/bin/sh
# packaging/wheel-check.sh WHEEL VENV: installs the wheel in a new environment and runs README's example.
#
# Debian's numpy, pandas and scikit-learn are seen. There is no network, where the kernel lets a process have none.
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
$readme
right = model.score(df.drop(columns="target"), df["target"])
print(f"{len(suspects)} labels may be wrong; the model is right about {right:.3f} of all")
assert right > 0.95 > 0.05 > len(suspects) / len(df)
END
