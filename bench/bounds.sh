#!/bin/sh
# What bounds and narrow storage spare in a run of training, with equal weights: 40 %
# pairwise noise, C known.
#
# usage: bounds.sh UMA-GPU IMAGES LABELS [STEPS]
#   IMAGES and LABELS are MNIST's files, or others that read --data and --labels;
#   STEPS is 1000
# Prints a line for each way: seconds of training, the bytes of examples read as a share
# of as many full readings in float32, the share of scores computed, and the SHA-256
# of W.npy. Exits 1 if any of these differ.
set -eu
program=$(realpath "$1")
images=$(realpath "$2")
labels=$(realpath "$3")
steps=${4:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$program" convert --data "$images" --labels "$labels" --out right.umab --quiet
"$program" confusion inject --data right.umab --pairwise 0.4 --seed 1 --out noisy.umab --write-confusion C.csv --quiet

# number KEY: the first value of a key in indented JSON.
number() { sed -n "s/^ *\"$1\": \([-+.e0-9]*\),*$/\1/p" | head -n 1; }

# Steps that correct one pair rescore two classes, which is what bounds spare.
pair="--step pair --doubt 0"

# way FLAG...
# shellcheck disable=SC2086 # $pair is a list of flags
way() {
	"$program" train --data noisy.umab --confusion C.csv --learner uma --max-steps "$steps" --model m.npz \
		--weights best $pair --quiet --json "$@" >train.json
	"$program" bench --data right.umab --learner uma --steps "$steps" --repeat 1 $pair --quiet --json "$@" >bench.json
	sum=$(unzip -p m.npz W.npy | sha256sum | cut -d ' ' -f 1)
	echo "$sum" >>sums
	narrow=$(awk -v b="$(number example_bytes <bench.json)" -v n="$(number examples <bench.json)" \
		-v d="$(number features <bench.json)" 'BEGIN { print b / (4 * n * d) }')
	awk -v s="$(number train <train.json)" -v r="$(number bytes_read_share <bench.json)" \
		-v k="$(number rescored_share <bench.json)" -v w="$narrow" \
		'BEGIN { printf "%8.3f s  bytes %.4f  scores %.4f  ", s, r * w, k }'
	printf '%s  %s\n' "$(echo "$sum" | cut -c 1-12)" "$*"
}

way --device opencl --storage narrow
way --device opencl --storage dense
way --device opencl --storage dense --no-bounds
way --device cpu --storage dense
way --device cpu --storage dense --no-bounds
[ "$(sort -u sums | wc -l)" = 1 ]
