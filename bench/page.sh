#!/bin/sh
# Opens the page of uma-gpu report in headless Chromium, as people see it: it must load without a word on the
# console, show the verdict and its pictures, ask nobody for anything, and fit a phone. Screenshots for looking at
# go to OUT, 400, 900 and 1600 pixels wide.
#
# usage: page.sh UMA-GPU DIGITS OUT
#   DIGITS is testdata/digits.csv.gz, or other labelled data of 64 features
set -eu
program=$(realpath "$1") digits=$(realpath "$2")
mkdir -p "$3"
out=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$program" split --data "$digits" --fractions 0.7,0.3 --out train.csv --out test.csv --quiet
"$program" confusion inject --data train.csv --pairwise 0.3 --out noisy.csv --write-confusion C.csv --quiet
"$program" train --data noisy.csv --confusion C.csv --model m.npz --hold-out 0.2 --quiet >train.txt
"$program" report --model m.npz --data noisy.csv --judge folds --pictures 8x8 --out report.html --quiet

browser() {
	chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
		--user-data-dir="$work/profile" --enable-logging=stderr --host-resolver-rules='MAP * ~NOTFOUND' "$@" \
		"file://$work/report.html"
}

browser --dump-dom >dom.html 2>console.txt
if grep CONSOLE console.txt; then
	echo "the page has something to say on the console, wanted nothing" >&2
	exit 1
fi
for text in 'labels likely wrong' 'Next:' 'The confusion matrix helps' \
	'Calibration' 'Hardest pairs' 'most likely to be wrong' \
	'</footer>'; do
	grep -q "$text" dom.html || { echo "the page does not show: $text" >&2; exit 1; }
done
[ "$(grep -c '<svg role="img"' dom.html)" -ge 1 ] || { echo "the page has no picture" >&2; exit 1; }
for width in 400 900 1600; do
	browser --window-size=$width,2600 --screenshot="$out/page-$width.png" 2>/dev/null
done
browser --print-to-pdf="$out/page.pdf" 2>/dev/null
cp report.html report.json "$out"
printf 'the page is sound: %d bytes; look at %s/page-*.png and page.pdf\n' "$(wc -c <report.html)" "$out"
