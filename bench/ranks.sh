#!/bin/sh
# Prints what the α-β model of docs/scale.md says of 1, 2 and 4 ranks, and what they take, in one go: the time of one
# process of all cores, and for each number of ranks the calls and bytes that it counts itself (traffic), each call at
# what a sum of 8 bytes takes of that many ranks, and each byte at what one of 1.6 MB takes. The least of ROUNDS runs
# each.
#
#	bench/ranks.sh UMA_GPU_MPI MPI_TEST DATA [ROUNDS]
#
# MPI_TEST is build/mpi.test of make mpi; MPIRUN is mpirun --oversubscribe --allow-run-as-root unless set.
set -eu
uma=$1 test=$2 data=$3 rounds=${4:-3}
run=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}
at=$(mktemp -d)
trap 'rm -r "$at"' EXIT
for ranks in 1 2 4; do
	UMA_GPU_MEASURE=1 $run -n $ranks "$test" 2>/dev/null | sed -n 's/.*sum of \([0-9]*\) bytes: /\1 /p' |
		sed 's/\([0-9.]*\)ms$/\1 1e-3/; s/\([0-9.]*\)µs$/\1 1e-6/; s/\([0-9.]*\)s$/\1 1/' >"$at/sums.$ranks"
done
echo "learner ranks training predicted ratio"
for learner in uma softmax; do
	for ranks in 1 2 4; do
		best=
		for _ in $(seq "$rounds"); do
			if [ $ranks = 1 ]; then command=; else command="$run -n $ranks"; fi
			# shellcheck disable=SC2086 # words
			$command "$uma" train --quiet --data "$data" --learner $learner --max-steps 60 --device cpu --json \
				--model "$at/m.npz" >"$at/out"
			line=$(awk -F'[:,]' '/"train"/{t=$2} /"calls"/{c=$2} /"summed"/{s=$2} END{print t+0, c+0, s+0}' "$at/out")
			best=$(printf '%s\n%s\n' "${best:-$line}" "$line" | sort -g | head -n 1)
		done
		[ $ranks != 1 ] || one=${best%% *}
		echo "$best" | awk -v learner=$learner -v ranks=$ranks -v one="$one" -v sums="$at/sums.$ranks" '{
			while ((getline line < sums) > 0) { split(line, f, " "); took[f[1]] = f[2] * f[3] }
			alpha = took[8]; beta = (took[1638400] - alpha) / 1638400
			predicted = ranks == 1 ? one : one + $2 * alpha + $3 * beta
			printf "%s %d %.3f %.3f %.2f\n", learner, ranks, $1, predicted, $1 / predicted
		}'
	done
done
