#!/bin/sh
# Collects in a folder what a machine with a GPU needs but its driver and python3; run.sh is run there.
# It compiles as make test and make build do, so nothing is compiled twice.
#
# usage: build.sh FOLDER FASHION [DATA]   in the root of the repository
#   FASHION holds Fashion-MNIST, if it is installed; SMALL=1 leaves it out, and makes no archive
#   DATA holds optdigits/ and letter/
set -eu
to=$1 fashion=$2 data=${3:-}
rm -rf "$to"
mkdir -p "$to/data"
go build -ldflags '-s -w' -o "$to/uma-gpu" ./cmd/uma-gpu
go test -c -ldflags '-s -w' -o "$to/gpu.test" ./gpu
go test -c -ldflags '-s -w' -o "$to/enginetest.test" ./internal/enginetest
cp bench/gpu/* bench/same-bits.sh bench/peers/torch_step.py bench/peers/prepare.py "$to"
PATH=$PATH:/sbin
cp "$(ldconfig -p | sed -n 's/.*libOpenCL\.so\.1 .*=> //p' | head -n 1)" "$to/libOpenCL.so.1"
cp testdata/digits.csv.gz "$to/data"
if [ -n "$data" ]; then
	for f in optdigits/optdigits.tra.gz letter/letter-recognition.data.gz; do
		mkdir -p "$to/data/${f%/*}"
		cp "$data/$f" "$to/data/$f"
	done
fi
[ -z "${SMALL:-}" ] || exit 0
for f in "$fashion"/*; do
	[ ! -e "$f" ] || cp "$f" "$to/data"
done
tar -C "${to%/*}" -czf "$to.tar.gz" "${to##*/}"
