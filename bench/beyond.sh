#!/bin/sh
# Trains from a prepared .umab in a control group of a fifth of its size, on the processor and on an OpenCL device that
# uses it in place, and streams it through one that does not; prints, beside what dd reads of the same file in the same
# group right before and after, how fast each reads, and how much memory it has besides the file. The models are those
# of a run without a limit, or where the file is larger than the memory of the machine those of each other. Where the
# disk has no room for a raw file and a prepared one, the raw one is used as it is, and where it has none for what
# softmax keeps beside it, UMA alone is run. As root, on control groups of version 1 or 2.
#
#	bench/beyond.sh UMA_GPU GPU_TEST FOLDER MEGABYTES
set -eu
uma=$1 gpu=$2 dir=$3 size=$4
limit=$((size / 5))
echo 5 2>/dev/null >/proc/self/autogroup || true
mkdir -p "$dir"
fail() { echo "beyond.sh: $*" >&2; exit 1; }

if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	group=/sys/fs/cgroup/uma-gpu-beyond.$$ most=memory.max
	stat='/^anon /{print $2}'
	echo +memory 2>/dev/null >/sys/fs/cgroup/cgroup.subtree_control || true
elif [ -e /sys/fs/cgroup/memory/tasks ]; then
	group=/sys/fs/cgroup/memory/uma-gpu-beyond.$$ most=memory.limit_in_bytes
	stat='/^total_rss /{print $2}'
else
	fail "found no control groups of memory below /sys/fs/cgroup; run it where they are mounted, as root"
fi
mkdir "$group" || fail "cannot make $group; run it as root, not in a container that has its groups read-only"
trap 'rmdir "$group" 2>/dev/null || true' EXIT
[ -e "$group/$most" ] || fail "$group has no $most; the memory controller is not on in the group above it"
echo $((limit << 20)) >"$group/$most"

# inside COMMAND... runs it in the group.
# shellcheck disable=SC2016
inside() { sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$@"; }

# drop forgets what of the file is in memory.
drop() { dd if="$file" iflag=nocache count=0 2>/dev/null; }

# disk prints the bytes a second at which dd reads the file, again and again until it has read 24 GB, or 24 GB of it:
# the beginning of a file alone may lie in a memory behind the disk, or just not.
disk() {
	many=24000 begun=$(date +%s%N) read=0
	while [ $read -lt $many ]; do
		drop
		inside dd if="$file" of=/dev/null bs=1M count=$((many - read)) 2>"$dir/dd"
		got=$(awk 'END{printf "%d", $1 / 1048576}' "$dir/dd")
		[ "$got" -gt 0 ] || fail "dd read nothing: $(cat "$dir/dd")"
		read=$((read + got))
	done
	awk -v n=$read -v t=$(($(date +%s%N) - begun)) 'BEGIN{printf "%.0f\n", n * 1048576 / t * 1e9}'
}

file=$dir/prepared.umab normalize=
[ ! -e "$dir/plain.umab" ] || file=$dir/plain.umab
if [ ! -e "$file" ] && [ "$(df -Pm "$dir" | awk 'END{print $4}')" -lt $((size * 2)) ]; then
	file=$dir/plain.umab
	inside "$uma" synth --quiet --examples $((size * 250)) --features 1000 --classes 10 --out "$file"
elif [ ! -e "$file" ]; then
	inside "$uma" synth --quiet --examples $((size * 250)) --features 999 --classes 10 --out "$dir/raw.umab"
	if inside "$uma" train --quiet --data "$dir/raw.umab" --model "$dir/raw.npz" 2>"$dir/refused"; then
		fail "a raw file of $size MB was trained from in $limit MB"
	fi
	grep -q "convert it first (--data" "$dir/refused" || fail "$(cat "$dir/refused")"
	inside "$uma" convert --quiet --data "$dir/raw.umab" --normalize auto --out "$file"
	rm "$dir/raw.umab"
fi
[ "$file" = "$dir/prepared.umab" ] || normalize="--normalize none"

# measure NAME COMMAND... prints a line of how COMMAND reads in the group.
measure() {
	name=$1
	shift
	before=$(disk)
	drop
	begin=$(date +%s%N) bytes=0 top=0
	# shellcheck disable=SC2016 # for the shell that becomes the command, whose number this one has to know
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$@" >"$dir/$name.out" 2>"$dir/$name.err" &
	pid=$!
	: >"$dir/$name.memory"
	while kill -0 $pid 2>/dev/null; do
		now=$(awk '/^read_bytes/{print $2}' /proc/$pid/io 2>/dev/null || true)
		[ "${now:-0}" = 0 ] || bytes=$now
		anon=$(awk "$stat" "$group/memory.stat")
		echo "$(date +%s) $bytes $anon" >>"$dir/$name.memory"
		[ "$anon" -le $top ] || top=$anon
		sleep 0.2
	done
	took=$(($(date +%s%N) - begin))
	wait $pid || fail "$name: $(tail -n 5 "$dir/$name.err")"
	awk -v name="$name" -v n="$bytes" -v t=$took -v a="$before" -v b="$(disk)" -v top=$top 'BEGIN {
		rate = n / t * 1e9
		printf "%-18s %6.1f GB read in %6.1f s: %4.0f MB/s; dd %4.0f and %4.0f MB/s: ratio %.2f; memory besides %4.0f MB\n",
			name, n / 1e9, t / 1e9, rate / 1e6, a / 1e6, b / 1e6, 2 * rate / (a + b), top / 1e6
	}'
}

echo "$(stat -c %s "$file") bytes in a control group of $((limit << 20))"
export TMPDIR="$dir" # where softmax keeps a third of the examples
flags() {
	case $1 in
	uma) echo $normalize --learner uma --max-steps 1 ;;
	*) echo $normalize --learner softmax --l2 0.001 --iterations 3 --max-steps 3 ;;
	esac
}
learners="uma softmax"
if [ "$(df -Pm "$dir" | awk 'END{print $4}')" -lt $((size / 2)) ]; then # a third of the examples, and a third of these
	echo "no room for softmax: found $(df -Ph "$dir" | awk 'END{print $4}') of disk in $dir, wanted $((size / 2)) MB"
	learners=uma
fi
for run in "uma cpu" "softmax cpu" "uma opencl" "softmax opencl"; do
	learner=${run% *} device=${run#* }
	[ "${learners#*"$learner"}" != "$learners" ] || continue
	# shellcheck disable=SC2046 # words
	measure "$learner-$device" "$uma" train --data "$file" --device "$device" --audit off \
		$(flags $learner) --model "$dir/$learner-$device.npz"
done
[ -z "$gpu" ] || { measure streamed "$gpu" -test.run '^TestBeyond$' -beyond "$file"; grep copies "$dir/streamed.out"; }

weights() { unzip -p "$1" W.npy | sha256sum | cut -d ' ' -f 1; }
in_memory=false
[ "$(stat -c %s "$file")" -gt "$(awk '/^MemTotal/{printf "%.0f", 1024 * $2}' /proc/meminfo)" ] || in_memory=true
for learner in $learners; do
	# shellcheck disable=SC2046 # words
	if $in_memory; then
		"$uma" train --quiet --data "$file" --device cpu $(flags $learner) \
			--model "$dir/$learner-all.npz" >/dev/null
	else
		cp "$dir/$learner-cpu.npz" "$dir/$learner-all.npz"
	fi
	for device in cpu opencl; do
		[ "$(weights "$dir/$learner-$device.npz")" = "$(weights "$dir/$learner-all.npz")" ] ||
			fail "$learner on $device: other weights than $($in_memory && echo with all memory || echo on the processor)"
	done
done
$in_memory && echo "the weights of all are those of runs without a limit" ||
	echo "the weights on OpenCL are those on the processor"
