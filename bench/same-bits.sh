#!/bin/sh
# Trains the same models in many ways and compares the weights: by logistic regression and by UMA, on plain Go
# and on OpenCL, with memory limited so that the examples are cut in tiles, with small work groups, on one
# processor and on all, from CSV and from LIBSVM, with examples in memory as float32, as stored values alone and
# as bytes; and on an emulated Arm processor where ARM64 says which program to run there.
#
# usage: same-bits.sh UMA-GPU DATA [SET...]
#   DATA holds optdigits/optdigits.tra.gz and letter/letter-recognition.data.gz, or
#   digits.csv.gz for the set digits
#   SETs are optdigits, letter, synthetic and digits; the first three if none is named
#   LEARNERS are the learners, both if it is not set: "softmax uma"
#   WITH are further flags for them, such as "--kernel rbf --gamma 2 --atoms 100 --atom-choice herding"
#   DEVICE is one OpenCL device of several, which is then the only one
#   ARM64 is uma-gpu built by CGO_ENABLED=0 GOARCH=arm64; wants Debian's qemu-user
# Prints one line per run, the SHA-256 of W.npy first; exits 1 if any differ.
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- optdigits letter synthetic
device=${DEVICE:-opencl}
arm64=${ARM64:+$(realpath "$ARM64")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# weights prints the SHA-256 of a model's W.npy, and of what its kernel map weighs landmarks by.
weights() {
	python3 -c 'import hashlib, sys, zipfile
model = zipfile.ZipFile(sys.argv[1])
parts = [model.read(name) for name in ("W.npy", "axes.npy", "offset.npy") if name in model.namelist()]
print(hashlib.sha256(b"".join(parts)).hexdigest())' "$1"
}

# train_all NAME STEPS STEPS-OF-UMA [FLAG...]: trains NAME.csv, which the flags are for, and NAME.svm in every way.
train_all() {
	name=$1 steps_softmax=$2 steps_uma=$3
	shift 3
	"$program" confusion inject --data "$name.csv" --pairwise 0.4 --seed 1 \
		--out noisy.csv --write-confusion C.csv --quiet "$@"
	"$program" confusion inject --data "$name.csv" --pairwise 0.4 --seed 1 --out noisy.svm --quiet "$@"
	for learner in ${LEARNERS:-softmax uma}; do
		steps=$steps_softmax
		[ "$learner" = softmax ] || steps=$steps_uma
		train_learner "$@"
	done
}

# train_learner [FLAG...]: trains with $learner. What prepares the examples leaves zeros alone, for sparse ones.
train_learner() {
	rm -f sums
	one() { # one WHAT ENVIRONMENT-AND-COMMAND...
		what=$1
		shift
		# shellcheck disable=SC2086 # a list of words
		"$@" --confusion C.csv --normalize maxabs,bias,l2 --learner "$learner" --max-steps "$steps" ${WITH:-} \
			--model m.npz --quiet >/dev/null
		weights m.npz >>sums
		printf '%s  %s, %s, %s\n' "$(tail -n 1 sums)" "$name" "$learner" "$what"
	}
	on_cpu="train --device cpu --data" on_opencl="train --device $device --data"
	csv="noisy.csv --storage dense" sparse="noisy.svm --storage sparse"
	# shellcheck disable=SC2086 # lists of words
	{
		one "cpu" "$program" $on_cpu $csv "$@"
		one "cpu, one processor" env GOMAXPROCS=1 taskset -c 0 "$program" $on_cpu $csv "$@"
		one "cpu, sparse, from LIBSVM" "$program" $on_cpu $sparse
		one "opencl" "$program" $on_opencl $csv "$@"
		one "opencl, sparse, from LIBSVM" "$program" $on_opencl $sparse
		one "opencl, one processor" taskset -c 0 "$program" $on_opencl $csv "$@"
		# The self-test's own examples want 69,680 bytes in one piece.
		one "opencl, allocations of 136 KiB" "$program" $on_opencl $csv --max-alloc 136K "$@"
		one "opencl, small memory and work groups" env POCL_MEMORY_LIMIT=1 POCL_MAX_WORK_GROUP_SIZE=16 \
			"$program" $on_opencl $csv --max-alloc 1M "$@"
		[ -z "$arm64" ] || one "cpu, Arm" qemu-aarch64 "$arm64" $on_cpu $csv "$@"
	}
	[ "$(sort -u sums | wc -l)" = 1 ] || { echo "$name, $learner: the weights differ" >&2; exit 1; }
}

for set in "$@"; do
	case $set in
	optdigits)
		gzip -dc "$data/optdigits/optdigits.tra.gz" >optdigits.csv
		train_all optdigits 100 200
		;;
	letter)
		gzip -dc "$data/letter/letter-recognition.data.gz" >letter.csv
		train_all letter 20 60 --label-column first
		;;
	synthetic)
		"$program" synth --examples 50000 --features 64 --classes 12 --seed 1 --out synthetic.csv --quiet
		train_all synthetic 10 30
		;;
	digits)
		gzip -dc "$data/digits.csv.gz" >digits.csv
		train_all digits 50 50
		;;
	*)
		echo "same-bits.sh: found the set $set, wanted optdigits, letter, synthetic or digits" >&2
		exit 2
		;;
	esac
done
echo "all equal"
