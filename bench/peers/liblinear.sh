#!/bin/sh
# Time of liblinear to a stated test error: liblinear.sh DIR ERROR
#
# Solver 1 (L2-loss support vectors, dual), with a bias, is stopped ever later
# until the error on the test examples is at most ERROR. Seconds are those of
# the run that got there, with reading; those of a run that stops at once stand
# beside them. Prints one JSON object.
set -eu
dir=$1 wanted=$2
model=$dir/liblinear.model
seconds() { # of a training with the tolerance $1
	from=$(date +%s.%N)
	liblinear-train -q -s 1 -B 1 -e "$1" "$dir/train.svm" "$model" >/dev/null 2>&1
	to=$(date +%s.%N)
	echo "$from $to" | awk '{ print $2 - $1 }'
}
reading=$(seconds 1e30)
for e in ${LIBLINEAR_E:-10 3 1 0.3 0.1}; do
	took=$(seconds "$e")
	accuracy=$(liblinear-predict "$dir/test.svm" "$model" /dev/null | sed -n 's/^Accuracy = \([0-9.]*\)%.*/\1/p')
	reached=$(echo "$accuracy $wanted" | awk '{ print 1 - $1 / 100 <= $2 + 1e-12 ? "true" : "false" }')
	[ "$reached" = false ] || break
done
echo "$took $reading $accuracy $e $reached" | awk '{
	printf "{\"seconds\": %.4f, \"reading\": %.4f, \"error\": %.4f, \"tolerance\": %s, \"reached\": %s}\n",
		$1, $2, 1 - $3 / 100, $4, $5
}'
