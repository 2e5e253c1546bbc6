#!/bin/sh
# Throughput of uma-gpu serve for batches of 1000 beside the library's own, the time of single rows, and requests lost
# when it ends under load, by hey (github.com/rakyll/hey). letter: a linear model, and one with 500 components of 4000
# landmarks, which takes the engine longer than to read the numbers.
#
# usage: serve.sh UMA-GPU LIBRARY DATA
#   LIBRARY is bench/library, built; DATA holds letter/letter-recognition.data.gz
# Where taskset is and there are two cores or more, everything is measured once more with the server, or the
# library, on
# one core and hey on another, and by the processor time that each takes for a row: hey takes from the server what it
# needs, if they share cores.
# SECONDS_EACH is 5; server and library are measured in turn, ROUNDS (3) times, and the best of each counts.
set -eu
program=$(realpath "$1")
library=$(realpath "$2")
data=$(realpath "$3")
each=${SECONDS_EACH:-5}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"

start() {
	: >log
	$on "$program" serve --model "$1" --listen 127.0.0.1:0 --device cpu 2>log &
	server=$!
	until url=$(grep -o 'http://[^,]*' log); do sleep 0.05; done
}

stop() {
	kill -TERM "$server"
	wait "$server"
	server=
}

# ticks: processor time of the server until now, in hundredths of a second
ticks() { sed 's/.*) //' "/proc/$server/stat" | awk '{ print $12 + $13 }'; }

# ask BODY FLAG...: what hey prints of requests with this body, which are answered in its format.
ask() {
	body=$1
	shift
	case $body in
	*.npy) kind=application/x-npy ;;
	*) kind=application/json ;;
	esac
	$askOn hey -m POST -T "$kind" -A "$kind" -D "$body" "$@" "$url/v1/predict" >hey.txt
}

on=
askOn=
least() { sort -g "$1" | head -n 1; }
best() { sort -g "$1" | tail -n 1; }

"$program" split --data "$data/letter/letter-recognition.data.gz" --format csv --label-column 1 --counts 15000,5000 \
	--seed 1 --out train.npz --out test.npz --quiet
"$program" train --data train.npz --model linear.npz --learner classmean --device cpu --quiet >report
"$program" train --data train.npz --model kernel.npz --learner classmean --kernel rbf --components 500 \
	--landmarks 4000 --device cpu --quiet >report
for model in linear kernel; do
	rm -f served.* own
	for round in $(seq "${ROUNDS:-3}"); do
		"$library" -model "$model.npz" -data test.npz -seconds "$each" -body batch | awk '{ print $1 }' >>own
		start "$model.npz"
		for form in json npy; do
			ask "batch.$form" -z "${each}s" -c 4
			awk '/Requests\/sec/ { print 1000 * $2 }' hey.txt >>"served.$form"
		done
		stop
	done
	for form in json npy; do
		awk -v what="$model, $form" -v own="$(best own)" -v served="$(best "served.$form")" 'BEGIN {
			printf "%s, batches of 1000: served %.0f rows/s, library %.0f, %.1f %%\n", what, served, own, 100 * served / own }'
	done
	if command -v taskset >/dev/null && [ "$(nproc)" -gt 1 ]; then
		rm -f cost.*
		for round in $(seq "${ROUNDS:-3}"); do
			on="taskset -c 0"
			askOn="taskset -c 1"
			$on "$library" -model "$model.npz" -data test.npz -seconds "$each" >cost
			awk '{ print $1 >>"cost.own.rate"; print $2 >>"cost.own" }' cost
			start "$model.npz"
			for form in json npy; do
				before=$(ticks)
				ask "batch.$form" -z "${each}s" -c 4
				awk -v ticks=$(($(ticks) - before)) -v form="$form" '/Requests\/sec/ { print 1000 * $2 >>("cost." form ".rate") }
					/\[200\]/ { print 10 * ticks / $2 >>("cost." form) }' hey.txt
			done
			stop
		done
		on=
		askOn=
		for form in json npy; do
			awk -v what="$model, $form" -v own="$(least cost.own)" -v served="$(least "cost.$form")" \
				-v rate="$(best "cost.$form.rate")" -v ownRate="$(best cost.own.rate)" 'BEGIN {
				printf "%s, one core each: served %.0f rows/s, library %.0f, %.1f %%\n",
					what, rate, ownRate, 100 * rate / ownRate
				printf "%s, processor time: served %.3f us a row, library %.3f, %.1f %%\n",
					what, served, own, 100 * own / served }'
		done
	fi
	head -c 200 batch.json | sed 's/\],.*/]]}/' >row.json
	start "$model.npz"
	ask row.json -z "${each}s" -c 1
	awk -v model="$model" '/% in/ { if ($1 == "50%" || $1 == "99%") t = t ", " $1 " in " 1000 * $3 " ms" }
		/Requests\/sec/ { r = $2 } END { printf "%s, single rows, one after the other: %.0f/s%s\n", model, r, t }' hey.txt
	ask row.json -z "${each}s" -c 32
	awk -v model="$model" '/% in/ { if ($1 == "50%" || $1 == "99%") t = t ", " $1 " in " 1000 * $3 " ms" }
		/Requests\/sec/ { r = $2 } END { printf "%s, single rows, 32 at a time: %.0f/s%s\n", model, r, t }' hey.txt
	stop
done

# The end under load: requests that were neither answered with 200 nor refused are lost.
start linear.npz
ask row.json -z "${each}s" -c 16 &
asking=$!
sleep 1
stop
wait "$asking"
answered=$(awk '/\[200\]/ { print $2 }' hey.txt)
lost=$(sed -n '/Error distribution/,$p' hey.txt | grep -v refused |
	awk '/\[[0-9]+\]/ { gsub(/[][]/, "", $1); n += $1 } END { print n + 0 }')
echo "end under load: $answered requests answered, $lost lost"
