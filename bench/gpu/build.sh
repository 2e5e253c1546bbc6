#!/bin/sh
# Collects in a folder what a machine with a GPU needs but its driver and python3; run.sh is run there.
# It compiles as make test and make build do, so nothing is compiled twice.
#
# usage: build.sh FOLDER [DATA]   in the root of the repository
#   DATA holds optdigits/ and letter/; SMALL=1 makes no archive
# Exits with 1 if the folder is larger than 50 MB.
set -eu
to=$1 data=${2:-}
rm -rf "$to"
mkdir -p "$to/data"
go build -ldflags '-s -w' -o "$to/uma-gpu" ./cmd/uma-gpu
go test -c -ldflags '-s -w' -o "$to/gpu.test" ./gpu
cp bench/gpu/*.py bench/gpu/run.sh bench/same-bits.sh "$to"
PATH=$PATH:/sbin
cp "$(ldconfig -p | sed -n 's/.*libOpenCL\.so\.1 .*=> //p' | head -n 1)" "$to/libOpenCL.so.1"
cp testdata/digits.csv.gz "$to/data"
if [ -n "$data" ]; then
	for f in optdigits/optdigits.tra.gz letter/letter-recognition.data.gz; do
		mkdir -p "$to/data/${f%/*}"
		cp "$data/$f" "$to/data/$f"
	done
fi
size=$(du -sm --apparent-size "$to" | cut -f 1)
[ "$size" -le 50 ] || { echo "build.sh: $to has $size MB, wanted at most 50" >&2; exit 1; }
[ -n "${SMALL:-}" ] || tar -C "${to%/*}" -czf "$to.tar.gz" "${to##*/}"
