#!/bin/sh
# Tests an OpenCL device and measures it, with what `make bench-gpu-build` has laid beside
# this script. Needs a driver, python3 and coreutils: no Go, no package, no Internet.
#
# usage: run.sh OUT [PART...]
#   PARTs are A, what is there: devices, launches, copies, memory; B, the same bits; C, a profile:
#   steps, evaluations and projections, also beside the processor;
#   D, other ways to compile and to cut; E, trainings beside torch and scikit-learn. All, if none
#   is named. Each takes at most 8 minutes.
#   OUT gets PART.jsonl, a line for each measurement as soon as it is made, and gpu.md of all parts
#   that it has
#   SMALL=1  fewer measurements and small sizes, on any device; without it there has to be a GPU
#   DEVICE   an id of `uma-gpu devices`; the first GPU if it is not set, else the first OpenCL device
#   BUDGET   seconds for a part: 460. What does not fit in says so, as does a measurement that takes
#            longer than its own limit.
# Exits with 1 if a measurement failed, found nothing, or took too long.
set -eu
[ $# -ge 1 ] || { echo "usage: run.sh OUT [PART...]" >&2; exit 2; }
here=$(dirname "$(realpath "$0")")
mkdir -p "$1"
out=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- A B C D E
small=${SMALL:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$here/data" data
uma=$here/uma-gpu

# measure NAME LIMIT COMMAND...: runs a command for at most LIMIT seconds and records it.
measure() {
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

# benchmark NAME LIMIT PATTERN [TIME]: a measurement by the benchmarks of package gpu.
benchmark() {
	measure "$1" "$2" "$here/gpu.test" '-test.run=^$' -test.timeout=0 $full \
		"-test.bench=$3" "-test.benchtime=${4:-1x}"
}

if [ -n "$small" ]; then
	full=-full=false conformance='rows_of_work-groups_in_pairs$' sets=digits variants='(default|16_examples)'
	shape=4000,64,10 steps=10 fits=2000,20,5,10
else
	full=-full conformance=. sets="digits synthetic" variants=.
	[ ! -d data/optdigits ] || sets="optdigits letter"
	shape=60000,784,10 steps=100 fits="100000,1000,50,200 1280000,768,1000,10"
fi
allowed=512M
# One pair of classes a step, as torch does it; one penalty, so that all evaluations are of all examples.
uma_step="--learner uma --step pair --doubt 0"
logistic="--learner softmax --l2 1e-4"

# training NAME LIMIT N,D,Q DEVICE STEPS FLAG...: times a training on synthetic examples with 40 % pairwise noise.
training() {
	name=$1 limit=$2 n=${3%%,*} d=${3#*,} q=${3##*,} on=$4 steps_of=$5
	shift 5
	d=${d%,*} noisy=noisy-$n-$d-$q.npz
	[ -e "$noisy" ] || {
		"$uma" synth --quiet --examples "$n" --features "$d" --classes "$q" --out right.npz
		"$uma" confusion inject --quiet --data right.npz --pairwise 0.4 --seed 1 --out "$noisy" --write-confusion C.csv
	}
	measure "$name" "$limit" "$uma" train --json --quiet --data "$noisy" --confusion C.csv --model m.npz \
		--device "$on" --max-steps "$steps_of" "$@"
}

# shellcheck disable=SC2086 # lists of words
part() {
	case $1 in
	A)
		measure devices 60 "$uma" devices --json
		benchmark "the device" 120 "Device/^$device\$"
		;;
	B)
		measure conformance 340 "$here/gpu.test" -test.timeout=0 -test.v \
			"-test.run=^TestConformance\$/^$device\$/$conformance"
		measure "same bits" 120 env ${small:+LEARNERS=softmax} sh "$here/same-bits.sh" "$uma" data $sets
		;;
	C)
		training "steps, opencl" 40 $shape "$device" $steps $uma_step
		training "steps, cpu" 40 $shape cpu $steps $uma_step
		training "logistic, opencl" 40 $shape "$device" $steps $logistic
		training "logistic, cpu" 40 $shape cpu $steps $logistic
		benchmark profile 240 "Profile/^$device\$"
		benchmark streamed 30 "Streamed/^$device\$" 3x
		# Small, these would take most of the time; the conformance suite has tiles.
		[ -n "$small" ] || {
			training "large" 60 500000,784,10 "$device" $steps $logistic
			training "large, little memory" 60 500000,784,10 "$device" $steps $logistic --memory-limit $allowed
		}
		;;
	D) benchmark variants 450 "Variants/^$device\$/$variants" ;;
	E)
		for fit in $fits; do
			measure "fit $fit, torch" 80 python3 "$here/torch_runs.py" $(echo "$fit" | tr , ' ')
			training "fit $fit, opencl" 150 "${fit%,*}" "$device" "${fit##*,}" $logistic
		done
		;;
	*)
		echo "run.sh: found the part $1, wanted A, B, C, D or E" >&2
		exit 2
		;;
	esac
}

for letter in "$@"; do
	results=$out/$letter.jsonl
	end=$(($(date +%s) + ${BUDGET:-460}))
	printf '{"device": "%s", "small": %s, "allowed": "%s"}\n' "$device" "$([ -n "$small" ] && echo true || echo false)" \
		$allowed >"$results"
	part "$letter"
	status=0
	python3 "$here/page.py" "$out" >"$out/gpu.md" || status=$?
done
exit $status
