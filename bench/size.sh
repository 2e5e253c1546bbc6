#!/bin/sh
# Prints how large the project is, and lines of code picked at random, each with the sentence that
# says why it stands where it stands: the newcomer's minute.
#
# usage: size.sh [SEED]   in the checkout
set -eu
seed=${1:-$(date +%s)}
code() { git ls-files '*.go' | grep -v _test.go; }
public() { code | grep -vE '(^|/)internal/|^(cmd|bench|packaging)/'; }
row() { printf '%-58s %s\n' "$1" "$2"; }

row "lines of Go without tests" "$(code | xargs cat | wc -l)"
row "lines of tests" "$(git ls-files '*_test.go' | xargs cat | wc -l)"
row "test functions" "$(git ls-files '*_test.go' | xargs cat | grep -c '^func \(Test\|Fuzz\|Benchmark\|Example\)')"
row "words of docs and README" "$(cat README.md docs/*.md | wc -w)"
row "packages" "$(code | xargs -n 1 dirname | sort -u | wc -l)"
row "exported functions and methods that others can import" \
	"$(public | xargs cat | grep -cE '^func (\(([a-z]\w* )?\*?[A-Z]\w*(\[.*\])?\) )?[A-Z]')"
row "exported types that others can import" "$(public | xargs cat | grep -cE '^type [A-Z]')"
for d in $(code | xargs -n 1 dirname | sort -u); do
	echo "$(find "$d" -maxdepth 1 -name '*.go' ! -name '*_test.go' -exec cat {} + | wc -l) $d"
done | sort -rn | head -n 3 | while read -r lines d; do row "largest package: $d" "$lines"; done
# Fields that a line declares together count one by one; embedded types count once.
code | grep -v '^gpu/testdata' | xargs awk '
	/^type [A-Za-z]+(\[.*\])? struct \{$/ {
		name = FILENAME; sub("/[^/]*$", "", name); name = name "." $2; n = 0; next
	}
	name && /^}/ { print n, name; name = "" }
	name && /^\t[A-Za-z*]/ {
		line = $0; sub("//.*", "", line)
		match(line, /^\t[A-Za-z_0-9]+(, [A-Za-z_0-9]+)*/)
		names = substr(line, RSTART, RLENGTH)
		n += gsub(",", ",", names) + 1
	}
' | sort -rn | head -n 5 | while read -r fields name; do row "fields of the struct $name" "$fields"; done
row "packages that the front door links" "$(go list -deps . | wc -l)"

printf '\nTwenty lines of code, seed %s:\n' "$seed"
code | xargs grep -nE '[a-z]{3}.*[({=]' /dev/null | grep -vE ':[0-9]+:\s*//|:package |:import |"$' |
	awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -n | head -n 20 | cut -f 2- |
	while IFS= read -r line; do
		file=${line%%:*}
		rest=${line#*:}
		printf '%s:%s\n' "$file" "$(echo "$rest" | cut -c 1-80)"
		(cd "$(dirname "$file")" && go list -f '    {{.Doc}}' .)
	done
