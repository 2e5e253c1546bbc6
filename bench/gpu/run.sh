#!/bin/sh
# Tests an OpenCL device and measures it, with what `make bench-gpu-build` has laid beside
# this script. Needs a driver, python3 and coreutils: no Go, no package, no Internet.
#
# usage: run.sh OUT
#   OUT gets results.jsonl, a line for each part with what it printed, and gpu.md made of it
#   SMALL=1  fewer parts and small sizes, on any device; without it there has to be a GPU
#   DEVICE   an id of `uma-gpu devices`; the first GPU if it is not set, else the first OpenCL device
#   BUDGET   seconds for all parts together: 420. What does not fit in says so, as does a part
#            that takes longer than its own limit.
# Exits with 1 if a part failed, found nothing, or took too long.
set -eu
[ $# = 1 ] || { echo "usage: run.sh OUT" >&2; exit 2; }
here=$(dirname "$(realpath "$0")")
mkdir -p "$1"
out=$(realpath "$1")
small=${SMALL:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$here/data" data
uma=$here/uma-gpu
end=$(($(date +%s) + ${BUDGET:-420}))
results=$out/results.jsonl
rm -f "$results" "$out/gpu.md"

# part NAME LIMIT COMMAND...: runs a command for at most LIMIT seconds and records it.
part() {
	name=$1 limit=$2
	shift 2
	start=$(date +%s)
	[ "$limit" -le $((end - start)) ] || limit=$((end - start))
	code=124
	: >printed
	: >told
	if [ "$limit" -gt 0 ]; then
		code=0
		timeout -k 5 "$limit" "$@" >printed 2>told || code=$?
	fi
	seconds=$(($(date +%s) - start))
	python3 "$here/record.py" "$name" "$code" "$seconds" "$limit" printed told >>"$results"
	echo "$name: exit code $code, $seconds s" >&2
}

# find_device prints what `uma-gpu devices` calls the device to test, and whether it is a GPU.
find_device() {
	"$here/uma-gpu" devices --json 2>told | python3 "$here/record.py" device "${DEVICE:-}"
}

# A machine may have a driver and neither a loader nor a list of drivers.
found=$(find_device)
if [ -z "$found" ]; then
	export UMA_GPU_OPENCL_LIBRARY="$here/libOpenCL.so.1"
	found=$(find_device)
fi
if [ -z "$found" ]; then
	driver=libnvidia-opencl.so.1
	for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib64/nvidia /usr/lib/x86_64-linux-gnu; do
		[ ! -e "$folder/$driver" ] || { driver=$folder/$driver; break; }
	done
	mkdir vendors
	echo "$driver" >vendors/nvidia.icd
	export OCL_ICD_VENDORS="$work/vendors"
	found=$(find_device)
fi
[ -n "$found" ] || { cat told >&2; echo "run.sh: no OpenCL device ${DEVICE:-}; see above" >&2; exit 1; }
device=${found% *}
if [ "${found#* }" != GPU ] && [ -z "$small" ]; then
	echo "run.sh: $device is no GPU; SMALL=1 tests and measures it with small sizes" >&2
	exit 1
fi
export DEVICE="$device"

# benchmark NAME LIMIT FILE PATTERN TIME: a part made of the benchmarks of a binary of tests.
benchmark() {
	part "$1" "$2" "$here/$3" '-test.run=^$' -test.timeout=0 "-test.bench=$4" "-test.benchtime=$5"
}

images=data/train-images-idx3-ubyte.gz
if [ -n "$small" ]; then
	conformance='from_a_file,_streamed$' sets=digits often=2x
	data="--synthetic 4000,64,10 --repeat 1" steps=10
	sizes='(n=3823|n=15000|n=5664)' product='n=16000/d=17/m=4000/axes=0'
else
	conformance=. sets="digits synthetic" often=200ms
	[ ! -d data/optdigits ] || sets="optdigits letter"
	data="--synthetic 60000,784,10" steps=100
	[ ! -e $images ] || data="--data $images --labels data/train-labels-idx1-ubyte.gz"
	sizes=. product=.
fi
large="--synthetic 500000,784,10 --repeat 3" allowed=512M
# One pair of classes a step, as torch does it; one penalty, so that all evaluations are of all examples.
uma_step="--learner uma --step pair --doubt 0 --steps $steps"
logistic="--learner softmax --l2 1e-4 --steps $steps"

printf '{"device": "%s", "small": %s, "allowed": "%s"}\n' "$device" "$([ -n "$small" ] && echo true || echo false)" \
	$allowed >"$results"
part devices 60 "$uma" devices --json
part conformance 120 "$here/gpu.test" -test.timeout=0 -test.v "-test.run=^TestConformance\$/^$device\$/$conformance"
# shellcheck disable=SC2086 # lists of words
{
	part "same bits" 60 env ${small:+LEARNERS=softmax} sh "$here/same-bits.sh" "$uma" data $sets
	part "steps, opencl" 40 "$uma" bench --json --quiet --device "$device" $data $uma_step
	part "steps, cpu" 40 "$uma" bench --json --quiet --device cpu $data $uma_step
	part "logistic, opencl" 40 "$uma" bench --json --quiet --device "$device" $data $logistic
	part "logistic, cpu" 40 "$uma" bench --json --quiet --device cpu $data $logistic
}
if ! python3 -c 'import torch' 2>/dev/null; then
	part torch 20 python3 "$here/torch_step.py" # says why not
elif [ -n "$small" ] || [ ! -e $images ]; then
	part torch 20 echo '{"skipped": "it learns from Fashion-MNIST, which this run did not"}'
else
	part torch 60 sh -c 'python3 "$0/prepare.py" data arrays && python3 "$0/torch_step.py" arrays 200' "$here"
fi
benchmark peak 20 gpu.test "Peak/^$device\$" 3x
benchmark "evaluations, opencl" 60 enginetest.test "Evaluate/^$device\$/./$sizes/././evaluate" $often
benchmark "evaluations, cpu" 60 enginetest.test "Evaluate/^cpu\$/./$sizes/././evaluate" $often
benchmark "projections, opencl" 40 enginetest.test "Project/^$device\$/./$product" $often
benchmark "projections, cpu" 40 enginetest.test "Project/^cpu\$/./$product" $often
benchmark streamed 30 gpu.test "Streamed/^$device\$" 3x
# Small, these would take most of the time; the conformance suite has tiles.
# shellcheck disable=SC2086 # lists of words
[ -n "$small" ] || {
	part "large" 60 "$uma" bench --json --quiet --device "$device" $large $logistic
	part "large, little memory" 60 "$uma" bench --json --quiet --device "$device" $large $logistic --memory-limit $allowed
}
python3 "$here/page.py" "$results" >"$out/gpu.md"
