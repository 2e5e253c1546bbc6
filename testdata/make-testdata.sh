#!/bin/sh
# Remake digits.csv.gz and letter.csv.gz in this folder from Debian packages and
# check their hashes.
#
# usage: ./make-testdata.sh [FOLDER]
#
# FOLDER may hold python3-sklearn_*.deb and r-cran-mlbench_*.deb already; without
# it, both are fetched with "apt-get download" (neither is installed, no root
# needed). Wants dpkg, python3, gzip and sha256sum. Files here are replaced only
# if all hashes are right.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ $# -gt 1 ]; then
	echo "usage: $0 [FOLDER with the .deb files]" >&2
	exit 2
elif [ $# -eq 1 ]; then
	cp "$1"/python3-sklearn_*.deb "$1"/r-cran-mlbench_*.deb "$work"
else
	(cd "$work" && apt-get download python3-sklearn r-cran-mlbench)
fi
for deb in "$work"/*.deb; do
	dpkg -x "$deb" "$work/root"
done

# The package's text is what is wanted already: plain integers, label last. It is
# compressed again so that the result does not depend on how the package did it.
gzip -dc "$work/root/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz" >"$work/digits.csv"
python3 "$here/letter_from_rda.py" \
	"$work/root/usr/lib/R/site-library/mlbench/data/LetterRecognition.rda" >"$work/letter.csv"
# -n: no file name and no time, so that the same text gives the same bytes.
for name in digits letter; do
	gzip -9n <"$work/$name.csv" >"$work/$name.csv.gz"
done

if ! (cd "$work" && sha256sum -c "$here/SHA256SUMS"); then
	echo "$0: a hash differs, nothing was replaced. If only .gz files differ, this gzip packs otherwise" >&2
	echo "than gzip 1.12 does; if a .csv differs, the package holds other data than it did." >&2
	exit 1
fi
cp "$work/digits.csv.gz" "$work/letter.csv.gz" "$here"
