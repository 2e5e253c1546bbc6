#!/bin/sh
# Compares how fast a LIBSVM file is read, by this project and by scikit-learn's
# load_svmlight_file. Needs Debian's python3-sklearn; PYTHON names the interpreter.
#
# usage: reading.sh FILE
#   FILE is a LIBSVM file; a gzip one is unpacked first, so that parsing is compared
set -eu
here=$(realpath "$(dirname "$0")")
file=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $file in
*.gz)
	gzip -dc "$file" >"$work/data.svm"
	file=$work/data.svm
	;;
esac
(cd "$here/../.." && go build -o "$work/reading" ./bench/reading)
"${PYTHON:-/usr/bin/python3}" "$here/reading.py" "$work/reading" "$file"
