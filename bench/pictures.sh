#!/bin/sh
# Makes the pictures of pages of uma-gpu report that docs/ shows: report.png, the upper part of the one of start.md,
# and suspects.png, labels that are likely wrong, of the one of tutorial.md. The data are as these texts make them.
#
# usage: pictures.sh UMA-GPU DIGITS OUT
set -eu
program=$(realpath "$1") digits=$(realpath "$2") out=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# shot PAGE PICTURE WIDTH,HEIGHT
shot() {
	chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
		--user-data-dir="$work/profile" --window-size="$3" --screenshot="$work/shot.png" "file://$work/$1" 2>/dev/null
	# Few colours make a small file.
	/usr/bin/python3 - "$work/shot.png" "$2" <<-'end'
		import sys
		from PIL import Image
		Image.open(sys.argv[1]).convert("RGB").quantize(32).save(sys.argv[2], optimize=True)
	end
}

"$program" split --data "$digits" --counts 1200,597 --out right.csv --out test.csv --quiet
"$program" confusion inject --data right.csv --pairwise 0.4 --seed 1 --out noisy.csv --write-confusion C.csv --quiet
"$program" train --data noisy.csv --confusion C.csv --model with.npz --quiet >train.txt
"$program" report --model with.npz --data noisy.csv --out report.html --quiet
shot report.html "$out/report.png" 900,1250

"$program" confusion inject --data right.csv --pairwise 0.3 --seed 1 --out noisy.csv --quiet
cut -d, -f65 right.csv | head -n 200 | awk 'BEGIN { print "row,label" } { print NR "," $1 }' >checked.csv
"$program" confusion estimate --data noisy.csv --clean checked.csv --out C.csv --quiet >C.txt
"$program" train --data noisy.csv --confusion C.csv --model m.npz --quiet >train.txt
"$program" report --model m.npz --data noisy.csv --judge folds --pictures 8x8 --out page.html --quiet
awk '/<h2>Labels most likely/ { keep = 1 }
	!begun || keep { print }
	/<body>/ { begun = 1 }
	/<\/section>/ { keep = 0 }' page.html >suspects.html
shot suspects.html "$out/suspects.png" 900,470
ls -l "$out/report.png" "$out/suspects.png"
