#!/bin/sh
# Trains on every real data set, on the processor and on OpenCL, with the labels
# corrupted and C known, and compares the weights.
#
# usage: every-set.sh UMA-GPU DATA [STEPS]
#   DATA holds the sets as docs/weights.md names them; Fashion-MNIST comes from
#   Debian's dataset-fashion-mnist. STEPS is 100.
# Prints one line per set: its shape, the test error, and whether the weights are
# equal; exits 1 if any differ.
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
steps=${3:-100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
train="--learner uma --data noisy.npz --confusion C.csv"

weights() {
	unzip -p "$1" W.npy | sha256sum | cut -d ' ' -f 1
}

# judge NAME FLAG...: trains as $train says, tests on the data that the flags say.
judge() {
	name=$1
	shift
	for device in cpu opencl; do
		eval "\"$program\" train $train" --device $device --max-steps "$steps" --model $device.npz --quiet >report
	done
	error=$("$program" eval --model opencl.npz "$@" --device cpu --quiet --json |
		sed -n 's/.*"error_rate": *\([0-9.e-]*\).*/\1/p' | head -n 1)
	equal=equal
	[ "$(weights cpu.npz)" = "$(weights opencl.npz)" ] || { equal=DIFFERENT failed=1; }
	printf '%-16s test error %s, weights on cpu and opencl %s\n' "$name" "$error" "$equal"
}

# corrupt FLAG...: noisy.npz and C.csv of a training set.
corrupt() {
	"$program" confusion inject "$@" --pairwise 0.4 --seed 1 --out noisy.npz --write-confusion C.csv --quiet
}

pair() { # pair NAME FOLDER: IDX files of images and labels
	corrupt --data "$2"/train-images-idx3-ubyte.gz --labels "$2"/train-labels-idx1-ubyte.gz
	judge "$1" --data "$2"/t10k-images-idx3-ubyte.gz --labels "$2"/t10k-labels-idx1-ubyte.gz
}

pair MNIST "$data/mnist"
pair Fashion-MNIST /usr/share/datasets/fashion-mnist
corrupt --data "$data/optdigits/optdigits.tra.gz" --format csv
judge optdigits --data "$data/optdigits/optdigits.tes.gz" --format csv
corrupt --data "$data/letter/letter-recognition.data.gz" --format csv --label-column 1
judge "letter (train)" --data "$data/letter/letter-recognition.data.gz" --format csv --label-column 1
for set in 20news/20news reuters21578/reuters9; do
	corrupt --data "$data/$set.train.svm.gz"
	judge "${set#*/}" --data "$data/$set.test.svm.gz"
done

cifar=$data/cifar10n
corrupt --data "$cifar/train-feat-idx2-byte.gz" --labels "$cifar/train-labels.csv.gz" --label-column clean_label
judge cifar10n --data "$cifar/test-feat-idx2-byte.gz" --labels "$cifar/test-labels-idx1-ubyte.gz"
# People's own mistakes; the identity, for their matrix is nobody's to know.
train="--learner uma --data '$cifar/train-feat-idx2-byte.gz' \
	--labels '$cifar/train-labels.csv.gz' --label-column worse_label"
judge "cifar10n, human" --data "$cifar/test-feat-idx2-byte.gz" --labels "$cifar/test-labels-idx1-ubyte.gz"
exit $failed
