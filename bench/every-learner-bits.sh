#!/bin/sh
# Prints the SHA-256 of the weights of every learner, linear and with an rbf kernel, on the processor and on
# OpenCL, from dense and from sparse examples: one line each. Two programs are compared by their lists.
#
# usage: every-learner-bits.sh UMA-GPU DIGITS.csv.gz >list
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# weights prints the SHA-256 of a model's W.npy, and of what its kernel map weighs landmarks by; of its trees.
weights() {
	python3 -c 'import hashlib, sys, zipfile
model = zipfile.ZipFile(sys.argv[1])
names = ("W.npy", "axes.npy", "offset.npy", "tree_sizes.npy", "tree_nodes.npy", "tree_left.npy", "tree_values.npy")
parts = [model.read(name) for name in names if name in model.namelist()]
print(hashlib.sha256(b"".join(parts)).hexdigest())' "$1"
}

gzip -dc "$data" | head -n 400 >digits.csv
"$program" confusion inject --quiet --data digits.csv --pairwise 0.3 --seed 1 --out noisy.csv --write-confusion C.csv
for learner in $("$program" learners | sed -n 's/^\([a-z0-9]*\)  .*/\1/p'); do
	for kernel in linear rbf; do
		flags=
		[ $kernel = linear ] || flags="--kernel rbf --gamma 0.5 --landmarks 60 --components 20"
		case $learner,$kernel in
		kernelmean,linear) flags= ;;
		kernelmean,rbf) flags="--kernel rbf --gamma 0.5" ;;
		esac
		for device in cpu opencl; do
			for storage in dense sparse; do
				# shellcheck disable=SC2086 # a list of words
				if "$program" train --quiet --data noisy.csv --confusion C.csv --learner "$learner" --max-steps 8 \
					--storage $storage --device $device $flags --model m.npz >/dev/null 2>log; then
					printf '%s  %s %s %s %s\n' "$(weights m.npz)" "$learner" $kernel $device $storage
				else
					printf 'refused %s  %s %s %s %s\n' "$(head -c 60 log | tr '\n' ' ')" "$learner" $kernel $device $storage
				fi
			done
		done
	done
done
