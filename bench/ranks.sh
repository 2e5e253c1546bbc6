#!/bin/sh
# Prints what the α-β model of docs/scale.md says of 1, 2 and 4 ranks, and what they take, in one go. The model has
#
#	one - part + own · max(1, ranks / cores) + α · calls + β · bytes
#
# where one is the time of one process of all cores, and part what it takes on a 50th of the examples: the difference
# is the work that ranks share. own is what is left for a rank, the work that each does alike and its share of the
# part: measured on as many ranks as there are cores, of one core each, on the part, without their calls. Ranks count
# calls and bytes themselves (traffic); a call costs what a sum of 8 bytes takes of that many ranks, a byte what one of
# 1.6 MB takes. Nothing is fitted. The least of ROUNDS runs each.
#
#	bench/ranks.sh UMA_GPU_MPI MPI_TEST DATA [ROUNDS]
#
# DATA of docs/scale.md is what bench/mnist4.py writes. MPI_TEST is build/mpi.test of make mpi; MPIRUN is
# mpirun --oversubscribe --allow-run-as-root unless set.
set -eu
uma=$1 test=$2 data=$3 rounds=${4:-3}
run=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}
cores=$(nproc)
at=$(mktemp -d)
trap 'rm -r "$at"' EXIT
for ranks in 1 2 4 "$cores"; do
	[ ! -f "$at/sums.$ranks" ] || continue
	UMA_GPU_MEASURE=1 $run -n $ranks "$test" 2>/dev/null | sed -n 's/.*sum of \([0-9]*\) bytes: /\1 /p' |
		sed 's/\([0-9.]*\)ms$/\1 1e-3/; s/\([0-9.]*\)µs$/\1 1e-6/; s/\([0-9.]*\)s$/\1 1/' >"$at/sums.$ranks"
done
"$uma" split --quiet --data "$data" --fractions 0.02 --out "$at/part.npz"

# least RANKS DATA [VARIABLE=VALUE] prints the training time, the calls and the bytes of the fastest of some runs.
least() {
	if [ "$1" = 1 ]; then command=env; else command="$run -n $1 env"; fi
	for _ in $(seq "$rounds"); do
		# shellcheck disable=SC2086 # words
		$command ${3:-} "$uma" train --quiet --data "$2" --learner $learner --max-steps 60 --device cpu --json \
			--model "$at/m.npz" | awk -F'[:,]' '/"train"/{t=$2} /"calls"/{c=$2} /"summed/{s=$2} END{print t+0, c+0, s+0}'
	done | sort -g | head -n 1
}

# traffic RANKS prints the seconds of the calls and bytes of a run, which it reads.
traffic() {
	awk -v sums="$at/sums.$1" '{
		while ((getline line < sums) > 0) { split(line, f, " "); took[f[1]] = f[2] * f[3] }
		print $2 * took[8] + $3 * (took[1638400] - took[8]) / 1638400
	}'
}

echo "learner ranks training predicted ratio"
for learner in uma softmax; do
	part=$(least 1 "$at/part.npz")
	alike=$(least "$cores" "$at/part.npz" GOMAXPROCS=1)
	calls=$(echo "$alike" | traffic "$cores")
	for ranks in 1 2 4; do
		found=$(least $ranks "$data")
		[ $ranks != 1 ] || one=$found
		sums=$(echo "$found" | traffic $ranks)
		echo "$found" "$one" "$part" "$alike" "$calls" "$sums" | awk -v learner=$learner -v ranks=$ranks -v cores="$cores" '{
			own = $10 - $13
			predicted = ranks == 1 ? $4 : $4 - $7 + own * (ranks > cores ? ranks / cores : 1) + $14
			printf "%s %d %.3f %.3f %.2f\n", learner, ranks, $1, predicted, $1 / predicted
		}'
	done
	echo "$learner: one ${one%% *} s, part ${part%% *} s, own $(echo "$alike $calls" | awk '{print $1 - $4}') s"
done
