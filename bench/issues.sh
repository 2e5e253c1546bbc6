#!/bin/sh
# How well wrong labels are found: uma-gpu issues against cleanlab's rule (bench/issues), on
# optdigits with injected noise and on the human labels of cifar10n and music_genre.
#
# usage: issues.sh UMA-GPU DATA [SET...]
#   SET is optdigits, cifar10n or music_genre, all three if left out
#   DATA holds optdigits/optdigits.tra.gz, cifar10n/train-feat-idx2-byte.gz and train-labels.csv.gz (columns
#   worse_label and clean_label), music_genre/music_genre_mturk.csv.gz and music_genre_gold.csv.gz
#   EXAMPLES, the first of cifar10n that count, is 15000
# Prints rows of Markdown: set, rule, labels flagged, wrong ones among them, precision, recall, F1.
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- optdigits cifar10n music_genre
here=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
judge="$work/issues"
(cd "$here" && go build -o "$judge" ./bench/issues)
cd "$work"

run() {
	"$program" "$@" --quiet >report 2>notes || { cat notes >&2; exit 1; }
}

for name; do
	case $name in
	optdigits)
		run convert --data "$data/optdigits/optdigits.tra.gz" --format csv --out right.npz
		for noise in pairwise symmetric; do
			run confusion inject --data right.npz "--$noise" 0.4 --seed 1 --out noisy.npz
			"$judge" -name "optdigits, $noise 40 %, rbf" -noisy noisy.npz -right right.npz -rbf
		done
		;;
	cifar10n)
		for column in worse clean; do
			run convert --data "$data/cifar10n/train-feat-idx2-byte.gz" --labels "$data/cifar10n/train-labels.csv.gz" \
				--label-column "${column}_label" --out "$column.npz"
		done
		"$judge" -name "cifar10n worse" -noisy worse.npz -right clean.npz -folds 3 -first "${EXAMPLES:-15000}"
		;;
	music_genre)
		# Of each annotation its song's features; the right label is that of the song.
		gzip -dc "$data/music_genre/music_genre_gold.csv.gz" >gold.csv
		gzip -dc "$data/music_genre/music_genre_mturk.csv.gz" >mturk.csv
		cut -d, -f3- mturk.csv | tr -d '\r' >noisy.csv
		awk -F, -v OFS=, 'NR == FNR { right[$1] = $NF; next } { if (FNR > 1) $NF = right[$1]; print }' gold.csv mturk.csv |
			cut -d, -f3- | tr -d '\r' >right.csv
		"$judge" -name "music_genre, every annotation" -noisy noisy.csv -right right.csv -rbf
		;;
	*)
		echo "issues.sh: set $name is not known; use optdigits, cifar10n or music_genre" >&2
		exit 2
		;;
	esac
done
