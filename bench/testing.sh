#!/bin/bash
# Runs the long checks and writes docs/testing.md of what they printed.
#
# usage: testing.sh DIR [CHECK...]   runs checks; without a CHECK, all that DIR has no record of
#        testing.sh page DIR OLD     prints the page; what DIR has no record of is as in the page OLD
#
# A record is what a check printed, behind a line of its date, seconds and exit code. Lengths are
# FUZZTIME, KILLS, PROGRAMS and MOST, in the environment.
set -u
export KILLS=${KILLS:-300} FUZZTIME=${FUZZTIME:-1m} MOST=${MOST:-6} SEED=${SEED:-0}
checks="coverage branches kernels learners readers rows fuzz kills hostile writes faults rapid devices
response"

run() {
	case $1 in
		coverage) go test -vet=off -short -timeout 2h -cover ./... ;;
		branches) go test -vet=off -coverprofile=build/contract.out -coverpkg=./cpuref,./host/numerics \
			./cpuref ./host/numerics &&
			go tool cover -func=build/contract.out | tail -1 ;;
		kernels) go test -vet=off -timeout 2h -v -run '^TestMutantsAreCaught$' ./gpu -all ;;
		learners) go test -vet=off -count=1 -v -run 'Mutants' ./learners/catalog ./host/engine/enginetest ./cpuref/simd ;;
		readers) make -s mutants-readers ;;
		rows) make -s rows PROGRAMS="${PROGRAMS:-1000}" SEED="$SEED" ;;
		fuzz) echo "each for $FUZZTIME" && make -s fuzz FUZZTIME="$FUZZTIME" ;;
		kills) make -s kills KILLS="$KILLS" SEED="$SEED" ;;
		hostile) make -s hostile ;;
		writes) bench/writes.sh build/uma-gpu build/writes "$MOST" ;;
		faults) make -s faults ;;
		rapid)
			[ "$SEED" = 0 ] && SEED=$(date +%s%N)
			grep -rl --include='*_test.go' 'rapid\.Check(' . | sort | while read -r file; do
				tests=$(awk '/^func Test/ { sub(/\(.*/, "", $2); test = $2 } /rapid\.Check\(/ { print test }' "$file" |
					sort -u | paste -sd '|')
				go test -vet=off -count=1 -v -run "^($tests)\$" "$(dirname "$file")" -rapid.seed "$SEED" || exit 1
			done && echo "seed $SEED" ;;
		devices)
			build/uma-gpu devices
			for d in cpu cpu:plain $(build/uma-gpu devices --json | grep -o 'opencl:[0-9.]*' | sort -u); do
				build/uma-gpu train --quiet --data testdata/digits.csv.gz --learner softmax --l2 1e-4 \
					--iterations 50 --device "$d" --model build/w.npz >/dev/null &&
					echo "W $d $(unzip -p build/w.npz W.npy | sha256sum | cut -c1-16)"
			done ;;
		response)
			for command in "version" "info --data testdata/digits.csv.gz" "devices"; do
				for _ in 1 2 3 4 5; do
					begin=$(date +%s%N)
					build/uma-gpu $command >/dev/null 2>&1
					echo "$(((($(date +%s%N) - begin)) / 1000000)) $command"
				done | sort -n | sed -n 3p
			done ;;
		*) echo "no check $1: wanted $checks" && return 2 ;;
	esac
}

if [ "$1" != page ]; then
	dir=$1
	shift
	mkdir -p "$dir"
	for check in ${*:-$checks}; do
		[ $# = 0 ] && [ -e "$dir/$check" ] && continue
		begin=$(date +%s)
		run "$check" >"$dir/$check.new" 2>&1
		code=$?
		{ echo "$(date +%F) $(($(date +%s) - begin)) $code" && cat "$dir/$check.new"; } >"$dir/$check"
		rm "$dir/$check.new"
		echo "$check: exit code $code"
	done
	exit
fi

dir=$2 old=$3
# section prints the section of the old page that has no record.
section() { sed -n "/^## $1\$/,/^## /p" "$old" | sed '1,2d; /^## /d' | sed '$d'; }
# row prints a line of the table: a check, what is counted, and how.
row() {
	if [ ! -e "$dir/$1" ]; then
		grep -F "| $2 |" "$old" || echo "| $2 | not measured | | | $4 |"
		return
	fi
	read -r date seconds code <"$dir/$1"
	[ "$code" = 0 ] && result=passed || result="**failed**"
	echo "| $2 | $(eval "$3") | $result | $date, $((seconds / 60 + 1)) min | $4 |"
}
count() { grep -cE -- "$2" "$dir/$1"; }
last() { grep -oE -- "$2" "$dir/$1" | tail -1; }
total() { grep -oE -- "$2" "$dir/$1" | grep -oE '[0-9]+' | awk '{ n += $1 } END { print n + 0 }'; }

# faults sums what the log says of calls, and of bits in the tests whose name ends in full.
faults() {
	awk '/^=== / { full = $3 ~ /\/full$/ }
		/ faults in .*: exit codes/ { calls += $2 }
		full && / found, .* wrong with exit code 0/ {
			for (k = 2; k < NF; k++) {
				if ($(k + 1) == "found,") found += $k
				if ($(k + 1) == "crashed,") crashed += $k
				if ($(k + 1) == "wrong") wrong += $k
			}
		}
		END { printf "%d calls; of bits %d found, %d crashed, %d wrong with exit code 0", calls, found, crashed, wrong }
	' "$dir/faults"
}

cat bench/testing/head.md
echo "| check | figures | result | date, time | command |"
echo "|---|---|---|---|---|"
row kernels "broken kernels that tests catch" 'count kernels "^    --- PASS: TestMutantsAreCaught/"' '`make mutants`'
row learners "broken learners and evaluations that tests catch" \
	'echo $(($(count learners "^ +--- PASS: Test.*Mutants.*/") + $(grep mutants_test.go "$dir/learners" | grep -vc "caught by")))' '`go test -run Mutants ./...`'
row readers "broken readers that tests catch" 'last readers "[0-9]+ of [0-9]+ reader mutants killed" || echo "$(count readers ": killed by") killed of $(count readers ": killed by|: survives") tried"' '`make mutants-readers`'
row rows "programs on tables with malformed or unlabelled rows, and without them" \
	'echo "$(last rows "passed [0-9]+ tests"), seed $(last rows "seed [0-9]{6,}" | cut -c6-)"' '`make rows`'
row fuzz "fuzz targets" 'echo "$(count fuzz " Fuzz[A-Za-z]+$"), $(last fuzz "each for .*")"' '`make fuzz`'
row kills "kills of trainings" \
	'echo "$(total kills "killed [0-9]+ times") kills, $(total kills "[0-9]+ temporary") leftovers, seed $(last kills "seed [0-9]{6,}" | cut -c6-)"' '`make kills`'
row hostile "hostile inputs" 'echo "$(total hostile "[0-9]+ (damaged files|command lines|processes,)") cases"' '`make hostile`'
row writes "system calls that fail, or in which the program is killed" 'last writes "[0-9]+ with a failed call, .*"' '`make writes`'
row faults "calls of a device that fail, and turned bits with a full audit; crashed: an index that was turned on its way to PoCL, which computes in the process" 'faults' '`make faults`'
row rapid "properties on random data, by rapid" 'echo "$(count rapid "^--- PASS"), on \
$(total rapid "passed [0-9]+ tests") draws, seed $(last rapid "^seed [0-9]+" | cut -c6-)"' '`go test -rapid.seed N`'
row branches "statements of the contract's code that its tests reach" 'last branches "[0-9.]+%"' '`go test -coverprofile`'

echo
echo "## Devices"
echo
[ -e "$dir/devices" ] || section Devices
if [ -e "$dir/devices" ]; then
	echo "The first digits of the SHA-256 of W of one training, $(head -1 "$dir/devices" | cut -d' ' -f1)."
	echo "[devices.md](devices.md) has more devices."
	echo
	echo "| id | device | platform | driver | SHA-256 of W |"
	echo "|---|---|---|---|---|"
	awk -F '  +' '/^W / { split($0, w, " "); sha[w[2]] = w[3] }
		/^(cpu|opencl:)/ { line[++n] = $0 }
		END { for (k = 1; k <= n; k++) { split(line[k], f, /  +/)
			print "| " f[1] " | " f[2] " | " f[3] " | " f[4] " | " sha[f[1]] " |" } }' "$dir/devices"
fi
echo
echo "## Response time"
echo
[ -e "$dir/response" ] || section "Response time"
[ -e "$dir/response" ] && sed -n 's/^\([0-9]*\) \(.*\)/- `uma-gpu \2`: \1 ms, the median of five/p' "$dir/response"
echo
echo "## Coverage by package"
echo
[ -e "$dir/coverage" ] || section "Coverage by package"
if [ -e "$dir/coverage" ]; then
	echo "| statements | packages |"
	echo "|---|---|"
	sed -nE 's|.*github.com/uma-gpu/uma-gpu/?(\S*)\s.*coverage: ([0-9.]+)% of.*|\2 \1|p' "$dir/coverage" | sort -rn |
		awk '{ b = int($1 / 10) * 10; list[b] = list[b] (list[b] ? ", " : "") ($2 ? $2 : ".") " " int($1 + .5) }
			END { for (b = 100; b >= 0; b -= 10) if (list[b]) print "| from " b " % | " list[b] " |" }'
fi
echo
cat bench/testing/faults.md
