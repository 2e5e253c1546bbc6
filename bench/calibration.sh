#!/bin/sh
# Calibration error on right labels by the temperature of train (own examples), and of calibrate
# with a fifth of the noisy examples, which that model was not trained on; C known.
#
# usage: calibration.sh UMA-GPU DATA [SET [FLAG...]]
#   SET is optdigits, letter or fashion, all three if left out; FLAGs go to every training
#   DATA holds optdigits/optdigits.{tra,tes}.gz, letter/letter-recognition.data.gz and
#   fashion-mnist/{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz
#   SEEDS, of noise and splits, is "1 2 3 4 5"; LEARNERS is "uma classmean"
# docs/probabilities.md measured uma with the FLAGs --step pair --weights best.
# Prints, for each set, noise and learner, means over the seeds as a row of Markdown: error rate of
# the first, and calibration error of the two.
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
sets=${3:-optdigits letter fashion}
[ $# -lt 3 ] && shift 2 || shift 3
seeds=${SEEDS:-1 2 3 4 5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

run() {
	"$program" "$@" --quiet >report 2>notes || { cat notes >&2; exit 1; }
}

# judge MODEL LIST: appends the model's calibration error on test.* to LIST.
judge() {
	run eval --model "$1" --data test.npz --json
	sed -n 's/.*"calibration_error": *\([^,]*\).*/\1/p' report >>"$2"
}

mean() {
	awk '{ s += $1 } END { printf "%.4f", s / NR }' "$1"
}

# parts SET SEED: makes train and test, with right labels.
parts() {
	case $1 in
	optdigits)
		run convert --data "$data/optdigits/optdigits.tra.gz" --format csv --out train.npz
		run convert --data "$data/optdigits/optdigits.tes.gz" --format csv --out test.npz
		;;
	letter)
		run split --data "$data/letter/letter-recognition.data.gz" --format csv --label-column 1 --counts 15000,5000 \
			--seed "$2" --out train.npz --out test.npz
		;;
	fashion)
		[ ! -f train.npz ] || return 0
		from=$data/fashion-mnist
		run convert --data "$from/train-images-idx3-ubyte.gz" --labels "$from/train-labels-idx1-ubyte.gz" --out train.npz
		run convert --data "$from/t10k-images-idx3-ubyte.gz" --labels "$from/t10k-labels-idx1-ubyte.gz" --out test.npz
		;;
	*)
		echo "calibration.sh: set $1 is not known; use optdigits, letter or fashion" >&2
		exit 2
		;;
	esac
}

for name in $sets; do
	rm -f train.npz
	for noise in pairwise symmetric; do
		for learner in ${LEARNERS:-uma classmean}; do
			rm -f own.list held.list error.list
			for seed in $seeds; do
				parts "$name" "$seed"
				run confusion inject --data train.npz "--$noise" 0.4 --seed "$seed" --out noisy.npz --write-confusion C.csv
				run split --data noisy.npz --fractions 0.8,0.2 --seed "$seed" --out most.npz --out rest.npz
				run train --data noisy.npz --confusion C.csv --model own.npz --learner "$learner" "$@"
				run train --data most.npz --confusion C.csv --model before.npz --learner "$learner" "$@"
				run calibrate --model before.npz --data rest.npz --confusion C.csv --out held.npz
				judge own.npz own.list
				sed -n 's/.*"error_rate": *\([^,]*\).*/\1/p' report >>error.list
				judge held.npz held.list
			done
			printf '| %s | %s 40 %% | %s | %s | %s | %s |\n' "$name" "$noise" "$learner" "$(mean error.list)" \
				"$(mean own.list)" "$(mean held.list)"
		done
	done
done
