#!/bin/sh
# Clean test error of UMA with known C and of the same learner with C = identity,
# means over five noise seeds.
#
# usage: accuracy.sh UMA-GPU DATA [FLAG...]
#   FLAGs go to every training, such as --weights average
#   DATA holds optdigits/optdigits.{tra,tes}.gz and letter/letter-recognition.data.gz
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
shift 2
common=$*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# error_of prints the clean test error of m.npz.
error_of() {
	"$program" eval --model m.npz --data test.csv --quiet --label-column "$label" | sed -n 's/^error rate *//p'
}

# measure NAME NOISE RATE STEPS [FLAG...]
measure() {
	name=$1 noise=$2 rate=$3 steps=$4
	shift 4
	# shellcheck disable=SC2086 # a list of flags
	set -- "$@" $common
	rm -f known unknown
	for seed in 1 2 3 4 5; do
		"$program" confusion inject --data train.csv --label-column "$label" "--$noise" "$rate" --seed $seed \
			--out noisy.csv --write-confusion C.csv --quiet
		"$program" train --data noisy.csv --label-column "$label" --confusion C.csv --max-steps "$steps" \
			--model m.npz --quiet "$@" >/dev/null
		error_of >>known
		"$program" train --data noisy.csv --label-column "$label" --max-steps "$steps" --model m.npz --quiet "$@" >/dev/null
		error_of >>unknown
	done
	printf '%-10s %-9s %-5s %s steps: known C %.4f, identity %.4f (%s)\n' "$name" "$noise" "$rate" "$steps" \
		"$(awk '{ s += $1 } END { print s / NR }' known)" "$(awk '{ s += $1 } END { print s / NR }' unknown)" "$*"
}

label=last
gzip -dc "$data/optdigits/optdigits.tra.gz" >train.csv
gzip -dc "$data/optdigits/optdigits.tes.gz" >test.csv
measure optdigits pairwise 0.4 600 --normalize l2
measure optdigits pairwise 0.45 600 --normalize l2
measure optdigits symmetric 0.4 600 --normalize l2

label=first
gzip -dc "$data/letter/letter-recognition.data.gz" >all.csv
head -n 15000 all.csv >train.csv
tail -n 5000 all.csv >test.csv
measure letter pairwise 0.4 800
