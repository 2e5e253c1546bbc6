#!/bin/sh
# A session of questions as an expert would have it, on 20 newsgroups: 5000 posts to ask about, of which the
# expert is shown the telling words, 40 labelled ones, ROUNDS rounds of 40 questions answered through files. In the
# middle one round is killed (kill -9) and begun again by the same command. The same session without a kill must
# have the same files, and one of random questions shows what choosing is worth.
#
# usage: query.sh UMA-GPU DATA [FLAG...]
#   DATA holds 20news/20news.{train,test}.svm.gz, .vocab.txt.gz and .classes.txt; FLAGs go to the first query
#   ROUNDS is 10, DEVICE cpu
# Prints the test accuracy after each round of both, and whether the sessions are the same.
set -eu
program=$(realpath "$1")
data=$(realpath "$2")/20news
shift 2
rounds=${ROUNDS:-10} device=${DEVICE:-cpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 - "$data" <<'END'
import gzip
import random
import sys

def lines(name):
    with gzip.open(f"{sys.argv[1]}/20news.{name}.gz", "rt") as f:
        return [line.rstrip("\n") for line in f]

vocabulary = lines("vocab.txt")
with open(f"{sys.argv[1]}/20news.classes.txt") as f:
    names = {line.split()[0]: line.split()[1] for line in f}
train = lines("train.svm")
random.Random(1).shuffle(train)

def telling(line):
    terms = sorted((term.split(":") for term in line.split()[1:]), key=lambda t: -float(t[1]))
    return " ".join(vocabulary[int(t) - 1] for t, _ in terms[:12])

def named(line):
    label, rest = line.split(" ", 1)
    return f"{names[label]} {rest}"

def write(name, rows):
    with open(name, "w") as f:
        f.writelines(f"{row}\n" for row in rows)

few, pool = train[:40], train[40:5040]
write("few.svm", map(named, few))
write("pool.svm", (line.split(" ", 1)[1] for line in pool))
write("texts.txt", map(telling, pool))
write("right.txt", (names[line.split()[0]] for line in pool))
write("test.svm", (named(line) for line in lines("test.svm") if " " in line))
write("classes.txt", [",".join(names[str(k)] for k in range(20))])
END

# expert QUESTIONS: fills in the labels of a file of questions.
expert() {
	python3 - "$1" <<'END'
import csv
import sys

right = open("right.txt").read().split()
rows = list(csv.DictReader(open(sys.argv[1])))
with open("answers.csv", "w", newline="") as f:
    out = csv.DictWriter(f, rows[0].keys())
    out.writeheader()
    for row in rows:
        row["label"] = right[int(row["id"]) - 1]
        out.writerow(row)
END
}

# session FOLDER KILLED FLAG...: a session; round KILLED is killed after a second.
session() {
	s=$1 killed=$2
	shift 2
	"$program" query --pool pool.svm --labelled few.svm --classes "$(cat classes.txt)" --show-file texts.txt --k 40 \
		--session "$s" --device "$device" "$@" >questions.csv 2>>notes
	round=1
	while [ $round -le "$rounds" ]; do
		expert "$s/round-$round.csv"
		if [ $round = "$killed" ]; then
			"$program" query --session "$s" --answers answers.csv --device "$device" >/dev/null 2>&1 &
			sleep 1
			kill -9 $! && echo "killed in round $round"
			wait $! || true
		fi
		"$program" query --session "$s" --answers answers.csv --device "$device" >questions.csv 2>>notes
		"$program" eval --model "$s/model.npz" --data test.svm --quiet --device "$device" |
			awk -v s="$s" -v n=$((40 + 40 * round)) '/^error rate/ { printf "%s: %d labels, accuracy %.3f\n", s, n, 1 - $3 }'
		round=$((round + 1))
	done
}

session killed $((rounds / 2)) "$@"
session whole 0 "$@"
diff -r killed whole && echo "the same files, killed or not"
session random 0 "$@" --strategy random
grep '^advice' notes || echo "no advice to stop"
