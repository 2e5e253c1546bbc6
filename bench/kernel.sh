#!/bin/sh
# Test error of UMA on kernel principal components and of linear UMA, from the same
# labels: all right, 40 % pairwise noise, 40 % symmetric noise (banana: 30 %), C known.
# Gamma is searched by the estimated error on noisy labels; no right label is used.
#
# usage: kernel.sh UMA-GPU DATA [SET [FLAG...]]
#   SET is optdigits, letter or banana, all three if left out; FLAGs go to every
#   training with a kernel function, such as --landmarks all
#   DATA holds optdigits/optdigits.{tra,tes}.gz, letter/letter-recognition.data.gz
#   and banana/banana.dat.gz
#   SEEDS, of the noise and of banana's split in 70 and 30 %, is "1 2 3 4 5"
# Prints a line for each set and noise: the means, the errors and gammas of each seed.
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
sets=${3:-optdigits letter banana}
[ $# -lt 3 ] && shift 2 || shift 3
seeds=${SEEDS:-1 2 3 4 5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# error_of FLAG...: trains with these flags and prints the clean test error. A model
# of an earlier training never counts.
error_of() {
	rm -f m.npz
	"$program" train --data noisy.csv --label-column "$label" $confusion --learner uma \
		--model m.npz "$@" >report 2>notes ||
		{ cat notes >&2; exit 1; }
	"$program" eval --model m.npz --data test.csv --quiet --label-column "$label" | sed -n 's/^error rate *//p'
}

mean() {
	awk '{ s += $1 } END { printf "%.4f", s / NR }' "$1"
}

# measure NAME NOISE RATE FLAG...: of one noise.
measure() {
	name=$1 noise=$2 rate=$3
	shift 3
	rm -f kernel linear gammas seconds
	for seed in $seeds; do
		[ "$name" != banana ] ||
			"$program" split --data all.csv --fractions 0.7,0.3 --seed "$seed" --out train.csv --out test.csv --quiet
		if [ "$noise" = none ]; then
			cp train.csv noisy.csv
			confusion=
		else
			"$program" confusion inject --data train.csv --label-column "$label" "--$noise" "$rate" --seed "$seed" \
				--out noisy.csv --write-confusion C.csv --quiet
			confusion="--confusion C.csv"
		fi
		error_of --kernel rbf --gamma search "$@" >>kernel
		sed -n 's/.*gamma \(.*\) is taken/\1/p' notes >>gammas
		sed -n 's/^seconds *\([0-9.]*\).*/\1/p' report >>seconds
		error_of >>linear
		[ "$noise" != none ] || [ "$name" = banana ] || break # nothing would change
	done
	printf '%-9s %-9s %-3s kernel %s linear %s (%s; errors %s; gammas %s; %s s each)\n' "$name" "$noise" "$rate" \
		"$(mean kernel)" "$(mean linear)" "$*" "$(paste -s -d ' ' kernel)" "$(paste -s -d ' ' gammas)" "$(mean seconds)"
}

# each NAME SYMMETRIC FLAG...: of every noise.
each() {
	name=$1 symmetric=$2
	shift 2
	measure "$name" none 0 "$@"
	measure "$name" pairwise 0.4 "$@"
	measure "$name" symmetric "$symmetric" "$@"
}

for set in $sets; do
	label=last
	case $set in
	optdigits)
		gzip -dc "$data/optdigits/optdigits.tra.gz" >train.csv
		gzip -dc "$data/optdigits/optdigits.tes.gz" >test.csv
		each optdigits 0.4 --components 640 "$@"
		each optdigits 0.4 --components 200 "$@"
		;;
	letter)
		label=first
		gzip -dc "$data/letter/letter-recognition.data.gz" >all.csv
		head -n 16000 all.csv >train.csv
		tail -n 4000 all.csv >test.csv
		each letter 0.4 --components 1600 --landmarks 4000 "$@"
		;;
	banana)
		"$program" convert --data "$data/banana/banana.dat.gz" --out all.csv --quiet
		each banana 0.3 --components 200 "$@"
		each banana 0.3 --components 200 --normalize-components l2 "$@"
		each banana 0.3 --components 200 --normalize-components bias,l2 --weights average "$@"
		;;
	*)
		echo "kernel.sh: found the set $set, wanted optdigits, letter or banana" >&2
		exit 2
		;;
	esac
done
