#!/bin/sh
# Trains the same model in many ways and compares the weights: on plain Go and on
# OpenCL, with memory limited so that the examples are cut in tiles, with small
# work groups, on one processor and on all, from CSV and from LIBSVM; and on Mesa's
# OpenCL where it is installed (mesa-opencl-icd), whose float32 is made of integers.
#
# usage: same-bits.sh UMA-GPU DATA [SET...]
#   DATA holds optdigits/optdigits.tra.gz and letter/letter-recognition.data.gz, or
#   digits.csv.gz for the set digits
#   SETs are optdigits, letter, synthetic and digits; the first three if none is named
#   DEVICE is one OpenCL device of several, which is then the only one
# Prints one line per run, the SHA-256 of W.npy first; exits 1 if any differ.
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- optdigits letter synthetic
device=${DEVICE:-opencl}
rusticl=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}/rusticl.icd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# weights prints the SHA-256 of a model's W.npy.
weights() {
	python3 -c 'import hashlib, sys, zipfile
print(hashlib.sha256(zipfile.ZipFile(sys.argv[1]).read("W.npy")).hexdigest())' "$1"
}

# train_all NAME STEPS [FLAG...]: trains NAME.csv and NAME.svm in every way.
train_all() {
	name=$1 steps=$2
	shift 2
	rm -f sums
	one() { # one WHAT ENVIRONMENT-AND-COMMAND...
		what=$1
		shift
		"$@" --confusion C.csv --learner uma --max-steps "$steps" --model m.npz --quiet >/dev/null
		weights m.npz >>sums
		printf '%s  %s, %s\n' "$(tail -n 1 sums)" "$name" "$what"
	}
	"$program" confusion inject --data "$name.csv" --pairwise 0.4 --seed 1 \
		--out noisy.csv --write-confusion C.csv --quiet "$@"
	"$program" confusion inject --data "$name.csv" --pairwise 0.4 --seed 1 --out noisy.svm --quiet "$@"
	one "cpu" "$program" train --device cpu --data noisy.csv "$@"
	one "cpu, one processor" env GOMAXPROCS=1 taskset -c 0 "$program" train --device cpu --data noisy.csv "$@"
	one "cpu, from LIBSVM" "$program" train --device cpu --data noisy.svm
	one "opencl" "$program" train --device "$device" --data noisy.csv "$@"
	one "opencl, from LIBSVM" "$program" train --device "$device" --data noisy.svm
	one "opencl, one processor" taskset -c 0 "$program" train --device "$device" --data noisy.csv "$@"
	one "opencl, allocations of 64 KiB" "$program" train --device "$device" --max-alloc 64K --data noisy.csv "$@"
	one "opencl, small memory and work groups" env POCL_MEMORY_LIMIT=1 POCL_MAX_WORK_GROUP_SIZE=16 \
		"$program" train --device "$device" --max-alloc 1M --data noisy.csv "$@"
	if [ -z "${DEVICE:-}" ] && [ -e "$rusticl" ] && [ "$name" != synthetic ]; then # which takes it minutes
		one "opencl, by Mesa" env RUSTICL_ENABLE=llvmpipe OCL_ICD_VENDORS="$rusticl" \
			"$program" train --device opencl --data noisy.csv "$@"
		one "opencl, by Mesa, from LIBSVM, allocations of 64 KiB" env RUSTICL_ENABLE=llvmpipe OCL_ICD_VENDORS="$rusticl" \
			"$program" train --device opencl --max-alloc 64K --data noisy.svm
	fi
	[ "$(sort -u sums | wc -l)" = 1 ] || { echo "$name: the weights differ" >&2; exit 1; }
}

for set in "$@"; do
	case $set in
	optdigits)
		gzip -dc "$data/optdigits/optdigits.tra.gz" >optdigits.csv
		train_all optdigits 200
		;;
	letter)
		gzip -dc "$data/letter/letter-recognition.data.gz" >letter.csv
		train_all letter 100 --label-column first
		;;
	synthetic)
		"$program" synth --examples 200000 --features 64 --classes 12 --seed 1 --out synthetic.csv --quiet
		train_all synthetic 30
		;;
	digits)
		gzip -dc "$data/digits.csv.gz" >digits.csv
		train_all digits 50
		;;
	*)
		echo "same-bits.sh: found the set $set, wanted optdigits, letter, synthetic or digits" >&2
		exit 2
		;;
	esac
done
echo "all equal"
