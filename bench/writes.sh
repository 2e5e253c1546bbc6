#!/bin/bash
# Fails the system calls that write, one after the other, of each command that writes files: its
# outputs are all as before and there is an error, or they are all new and whole: where standard
# output fails afterwards, with an error too. Then it kills the program in these calls: each output
# is as before or whole, those of clean all one or the other, and after the command has run again
# there is no temporary file. strace makes the faults.
#
# usage: writes.sh PROGRAM FOLDER [MOST]   MOST (6) is how many calls of a name fail, in turn
set -u
program=$(realpath "$1") most=${3:-6}
rm -rf "$2"
mkdir -p "$2" && cd "$2" || exit 1
export GOMAXPROCS=1
quietly() { "$program" "$@" >quiet.log 2>&1 || { cat quiet.log; exit 1; }; }
quietly synth --examples 300 --features 4 --classes 3 --out d.csv
quietly confusion inject --data d.csv --pairwise 0.2 --out n.csv
quietly train --data n.csv --device cpu --model m.npz
quietly confusion estimate --device cpu --data n.csv --method confident-joint --out C.csv

# Its outputs lie in the folder out, whatever it writes.
commands() {
	cat <<-END
		synth --examples 300 --features 4 --classes 3 --out out/a.csv
		confusion inject --data d.csv --pairwise 0.2 --out out/a.csv
		confusion estimate --device cpu --data n.csv --method confident-joint --out out/a.csv
		convert --data d.csv --out out/a.npz
		split --data d.csv --fractions 0.5,0.5 --out out/a.csv --out out/b.csv
		train --data n.csv --device cpu --max-steps 5 --model out/a.npz
		predict --device cpu --model m.npz --data d.csv --out out/a.csv
		calibrate --device cpu --model m.npz --data d.csv --out out/a.npz
		export --model m.npz --out out/a.onnx
		report --device cpu --model m.npz --data n.csv --out out/a.html
		issues --device cpu --data n.csv --confusion C.csv --out out/a.csv
		query --device cpu --data n.csv --out out/a.csv
		clean n.csv --device cpu --dir out
	END
}
state() { (cd out && find . -type f ! -name '.uma-gpu-*' | sort | xargs -r sha256sum); }
old() {
	rm -rf out && mkdir out
	for f in $(echo "$line" | grep -o 'out/[a-z.]*'); do echo old >"$f"; done
	case $line in clean*) for f in rows.csv cleaned.csv model.npz report.html; do echo old >out/$f; done ;; esac
	case $line in report*) echo old >out/a.json ;; esac
}

runs=0 faults=0 kills=0 named=0 wrong=0 left=0
while read -r line; do
	old
	before=$(state)
	if ! $program $line >quiet.log 2>&1 </dev/null; then
		echo "without a fault: $line" && cat quiet.log
		wrong=$((wrong + 1))
		continue
	fi
	names=$(cd out && find . -type f | sort) whole=$(state)
	for call in write pwrite64 openat fsync linkat renameat renameat2 fchmod mkdirat ftruncate; do
		for n in $(seq "$most"); do
			error=$([ $((n % 2)) = 0 ] && echo EIO || echo ENOSPC)
			old
			timeout 120 strace -f -qq -o trace.log -e trace="$call" -e inject="$call:error=$error:when=$n" \
				"$program" $line >stdout.log 2>stderr.log </dev/null
			code=$? runs=$((runs + 1))
			grep -q INJECTED trace.log || break
			faults=$((faults + 1))
			after=$(state)
			if [ "$(cd out && find . -type f ! -name '.uma-gpu-*' | sort)" = "$names" ] && ! grep -rqx old out &&
				[ "$code" = 0 -o -s stderr.log ]; then
				find . -name '.uma-gpu-*' | grep -q . && left=$((left + 1))
				continue
			elif [ "$code" != 0 ] && [ "$after" = "$before" ]; then # stderr may be what failed
				find . -name '.uma-gpu-*' | grep -q . && left=$((left + 1))
				find . -name '.uma-gpu-*' -exec rm -rf {} +
				continue
			fi
			wrong=$((wrong + 1))
			echo "$call $n $error, exit code $code: uma-gpu $line"
			tail -2 stderr.log
			grep INJECTED trace.log | head -2
			diff <(echo "$before") <(echo "$after")
		done
	done
	for call in write openat fsync linkat renameat renameat2 unlinkat mkdirat; do
		for n in $(seq "$most"); do
			old
			timeout 120 strace -f -qq -o trace.log -e trace="$call" -e inject="$call:signal=KILL:when=$n" \
				"$program" $line >stdout.log 2>stderr.log </dev/null
			[ $? = 137 ] || break
			kills=$((kills + 1))
			kept=$(grep -rxl --exclude='.uma-gpu-*' old out | wc -l)
			[ "$kept" = 0 ] || case $line in clean*) [ "$(state)" = "$before" ] ;; esac
			mixed=$?
			find . -name '.uma-gpu-*' | grep -q . && named=$((named + 1))
			$program $line >quiet.log 2>&1 </dev/null
			[ $? = 0 ] && [ $mixed = 0 ] && [ "$(cd out && find . -type f | sort)" = "$names" ] &&
				[ "$(state)" = "$whole" ] && [ -z "$(find . -name '.uma-gpu-*')" ] && continue
			wrong=$((wrong + 1))
			echo "killed in $call $n: uma-gpu $line"
			ls -A . out
		done
	done
done < <(commands)
echo "$runs runs, $faults with a failed call, $kills killed: $wrong wrong, $left left a temporary file," \
	"$named until the next program"
[ "$wrong" = 0 ] && [ "$left" = 0 ]
