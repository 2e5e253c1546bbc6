#!/bin/sh
# Draws the regions that UMA finds in banana under 30 % symmetric noise.
#
# usage: regions.sh UMA-GPU DATA OUT.png [FLAG...]
#   FLAGs go to the training
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
out=$(realpath "$3")
shift 3
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/.." && go build -o "$work/regions" ./bench/regions)
cd "$work"
gzip -dc "$data/banana/banana.dat.gz" | grep -v '^@' >all.csv
"$program" split --data all.csv --fractions 0.7,0.3 --seed 1 --out train.csv --out test.csv --quiet
"$program" confusion inject --data train.csv --symmetric 0.3 --seed 1 --out noisy.csv --write-confusion C.csv --quiet
"$program" train --data noisy.csv --confusion C.csv --learner uma --kernel rbf --gamma search \
	--model m.npz --quiet "$@" >report
"$program" eval --model m.npz --data test.csv --quiet | grep '^error rate'
./regions -grid 300 >grid.csv
"$program" predict --model m.npz --data grid.csv --no-labels --quiet --out classes.txt
./regions -grid 300 -examples noisy.csv -classes classes.txt -out "$out"
