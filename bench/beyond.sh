#!/bin/sh
# Trains from a float32 .npy in a control group of a fifth of its size, and converts a CSV of half its size in a
# tenth of that, 250 MB at least; prints seconds and the most memory that the group had, pages of files included. The
# model is compared with the model of a run without a limit, where the machine has the memory. As root, on control
# groups of version 1 or 2; python3 with numpy makes the data in FOLDER, which takes twice MEGABYTES and is emptied.
#
#	bench/beyond.sh UMA_GPU FOLDER MEGABYTES
set -eu
uma=$1 dir=$2 size=$3
fail() { echo "beyond.sh: $*" >&2; exit 1; }
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	group=/sys/fs/cgroup/uma-gpu-beyond.$$ most=memory.max peak=memory.peak
	echo +memory 2>/dev/null >/sys/fs/cgroup/cgroup.subtree_control || true
else
	group=/sys/fs/cgroup/memory/uma-gpu-beyond.$$ most=memory.limit_in_bytes peak=memory.max_usage_in_bytes
fi
mkdir -p "$dir"
mkdir "$group" || fail "cannot make $group; run it as root, where control groups of memory are mounted"
trap 'rm -f "$dir"/beyond.*; rmdir "$group" 2>/dev/null || true' EXIT

# drop leaves nothing of a file in memory, whose pages other groups would have.
drop() { sync "$1"; dd if="$1" iflag=nocache count=0 2>/dev/null; }

# inside MEGABYTES NAME COMMAND... runs the command in a group of that memory.
inside() {
	echo $(($1 << 20)) >"$group/$most"
	echo 0 2>/dev/null >"$group/$peak" || true # which not every kernel can reset
	limit=$1 name=$2
	shift 2
	begin=$(date +%s)
	# shellcheck disable=SC2016 # the inner shell expands it
	TMPDIR=$dir sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$@" || fail "$name in $limit MB: status $?"
	echo "$name in $limit MB: $(($(date +%s) - begin)) s, at most $(($(cat "$group/$peak") >> 20)) MB"
}

/usr/bin/python3 - "$dir/beyond" "$size" <<'END'
import sys
import numpy
path, size = sys.argv[1], int(sys.argv[2])
columns, rows = 1000, size * (1 << 20) // 4000
random = numpy.random.default_rng(1)
block = random.standard_normal((10000, columns), dtype="f4")
centres = random.standard_normal((10, columns), dtype="f4") / 4
labels = random.integers(0, 10, rows).astype("i4")
x = open(path + ".npy", "wb")
numpy.lib.format.write_array_header_1_0(x, {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)})
for i in range(0, rows, len(block)):
    y = labels[i:i + len(block)]
    x.write(numpy.roll(block, i // len(block), axis=0)[:len(y)] + centres[y])
wrong = random.random(rows) < 0.3
labels[wrong] = (labels[wrong] + 1) % 10
numpy.save(path + ".labels.npy", labels)
with open(path + ".csv", "wb") as csv:
    lines = b"".join(b",".join(b"%.6f" % v for v in row[:100]) + b",c%d\n" % (k % 10) for k, row in enumerate(block))
    for _ in range(max(1, (size << 19) // len(lines))):
        csv.write(lines)
END
ls -l "$dir"/beyond.*
train="$uma train --quiet --device cpu --data $dir/beyond.npy --labels $dir/beyond.labels.npy --normalize none"
train="$train --learner uma --max-steps ${STEPS:-2}"
drop "$dir/beyond.npy"
# shellcheck disable=SC2086 # a list of words
inside $((size / 5)) "train" $train --model "$dir/beyond.within"
if [ "$(awk '/MemTotal/{print int($2 / 1024)}' /proc/meminfo)" -gt $((size + size / 4)) ]; then
	# shellcheck disable=SC2086 # a list of words
	$train --model "$dir/beyond.without" >/dev/null
	cmp "$dir/beyond.within" "$dir/beyond.without"
	echo "the models have the same bytes"
fi
rm "$dir/beyond.npy"
drop "$dir/beyond.csv"
limit=$((size / 20 > 250 ? size / 20 : 250))
inside $limit "convert" "$uma" convert --quiet --data "$dir/beyond.csv" --normalize standardize,bias,l2 \
	--out "$dir/beyond.npz"
drop "$dir/beyond.npz"
inside $((size / 5)) "train from it" "$uma" train --quiet --device cpu --data "$dir/beyond.npz" --learner uma \
	--max-steps 1 --model "$dir/beyond.converted"
