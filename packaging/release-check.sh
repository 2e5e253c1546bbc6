#!/bin/sh
# packaging/release-check.sh OUT OTHER: builds the release of the commit a second time, in the folder OTHER with
# an empty cache, compares the checksums, and runs what this machine can.
set -eu
out=$(realpath "$1")
rm -rf "$2"
git clone -q . "$2"
mkdir "$2/cache"
(cd "$2" && GOCACHE=$PWD/cache packaging/release.sh again >/dev/null)
diff "$out/SHA256SUMS" "$2/again/SHA256SUMS"
rm -rf "$2"
echo "the same bytes twice"
tries=$(mktemp -d)
trap 'rm -rf "$tries"' EXIT
for archive in "$out"/*.tar.gz; do
	tar -C "$tries" -xzf "$archive"
	name=$(basename "$archive" .tar.gz)
	case $name in
	*linux-amd64*) run= ;;
	*linux-arm64*) run="qemu-aarch64 -L /usr/aarch64-linux-gnu" ;;
	*) echo "$name: only compiled"; continue ;;
	esac
	$run "$tries/$name/uma-gpu" train --quiet --device cpu --data testdata/digits.csv.gz --learner classmean \
		--model "$tries/$name.npz" >/dev/null
	echo "$name: run, model $(unzip -p "$tries/$name.npz" W.npy | sha256sum | cut -c 1-16)"
done
