package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// scene makes, in a folder that has testdata, the files that pages of the documentation speak of
// and do not make: examples with right and wrong labels, models, tables of annotators and of
// counts, a pool with texts.
const scene = `
uma-gpu convert --data testdata/digits.csv.gz --out all.csv
cp all.csv big.csv
uma-gpu split --data all.csv --fractions 0.5,0.2,0.3 --out train.csv --out right.csv --out test.csv
uma-gpu confusion inject --data train.csv --pairwise 0.4 --seed 1 --out noisy.csv --write-confusion C.csv
uma-gpu confusion inject --data right.csv --pairwise 0.4 --seed 2 --out heldout.csv
uma-gpu confusion inject --data test.csv --pairwise 0.4 --seed 3 --out noisy-test.csv
uma-gpu train --data noisy.csv --confusion C.csv --model m.npz
awk 'BEGIN { print "review,said,stars,verdict"
	split("a fine film,dull and long,fine music,long and empty", said, ",")
	for (i = 0; i < 80; i++)
		print "r" i "," said[1 + i % 4] " no " i % 9 "," i % 5 "," (i % 2 ? "bad" : "good") }' >reviews.csv
awk -F, 'NR == 1 { print "fine,dull,long,empty,five" }
	NR > 1 { print ($2 ~ /fine/ ? "good" : "") "," ($2 ~ /dull/ ? "bad" : "") "," ($2 ~ /long/ ? "bad" : "") \
		"," ($2 ~ /empty/ ? "bad" : "") "," ($3 == 4 ? "good" : "") }' reviews.csv >votes.csv
`

// scenery is what pages need that are not run in each test.
const scenery = scene + `
uma-gpu convert --data train.csv --out train.svm
cut -d, -f1-64 train.csv >features.csv
uma-gpu convert --data features.csv --no-labels --out train.npy
uma-gpu synth --examples 300 --features 50 --classes 4 --out later.npz
uma-gpu convert --data later.npz --out later.svm
gzip -c later.svm >part1.svm.gz
cp part1.svm.gz part2.svm.gz

cp train.csv pictures.csv
cut -d, -f65 train.csv | awk 'BEGIN { print "row,worker,label" }
	{ for (w = 0; w < 3; w++) print NR ",w" w "," (((NR * 7 + w * 3) % 4) ? $1 : ($1 + 1) % 10) }' >labels.csv
printf 'true,cat,dog\ncat,90,10\ndog,20,80\n' >crosstab.csv

awk 'BEGIN { print "id,text,x,y,label"
	for (i = 1; i < 40; i++) print i ",text " i "," i % 7 "," i % 5 "," (i % 7 > 3 ? "up" : "down") }' >labelled.csv
head -n 9 labelled.csv >few.csv
cut -d, -f1-4 labelled.csv >many.csv
awk 'BEGIN { print "x,y,weight,kind"
	for (i = 0; i < 80; i++) print i % 7 "," i % 2 * 3 + i % 5 "," 1 + i % 2 "," (i % 2 ? "bad" : "good") }' >table.csv
awk 'BEGIN { for (i = 0; i < 90; i++) print i % 7 "," i % 3 * 5 + i % 2 "," (i % 3 ? (i % 2 ? "a" : "b") : "c") }' >abc.csv
awk -F, 'NR % 4 == 0 { $3 = -1 } { print $1 "," $2 "," $3 }' abc.csv >gaps.csv
awk -F, '{ print $1 "," $2 "," $3 (NR % 3 ? "|" ($3 == "a" ? "b" : "a") : "") }' abc.csv >candidates.csv
awk -F, '{ print $1 "," $2 "," ($3 == "a" ? "b" : $3 == "b" ? "c" : "a") }' abc.csv >wrong.csv
awk -F, 'NR > 20 { $0 = $1 "," $2 "," $3 "," $4 "," } 1' labelled.csv >texts.csv
printf 'noisy\\true,a,b,c\na,0,0.5,0.5\nb,0.5,0,0.5\nc,0.5,0.5,0\n' >not-C.csv

uma-gpu train --data train.csv --learner kernelmean --kernel rbf --gamma median --model mean.npz

/usr/bin/python3 - <<'end'
import gzip, numpy
numpy.save("x.npy", numpy.random.default_rng(1).normal(size=(60, 4)).astype("f4"))
numpy.save("y.npy", numpy.arange(60) % 2)
numpy.save("w.npy", numpy.arange(60) % 3 + 1.0)
numpy.save("p.npy", numpy.eye(2)[numpy.arange(60) % 2] * 0.8 + 0.1)
numpy.savez("coef.npz", coef_=numpy.eye(3, 64), intercept_=numpy.zeros(3), classes_=numpy.arange(3))
data = numpy.loadtxt("train.csv", delimiter=",").astype(numpy.uint8)
for part in "train", "t10k":
    with gzip.open(part + "-images-idx3-ubyte.gz", "wb") as f:
        f.write(numpy.array([0x803, len(data), 8, 8], ">i4").tobytes() + data[:, :-1].tobytes())
    with gzip.open(part + "-labels-idx1-ubyte.gz", "wb") as f:
        f.write(numpy.array([0x801, len(data)], ">i4").tobytes() + data[:, -1].tobytes())
end
`

// makeScene makes that folder.
func makeScene(t *testing.T, dir, script string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "shop.csv", shop(84))
	if output, err := newShell(t, dir).run(t, script); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// shop is a table as pandas writes one, of n examples: an index, a category, a truth, a number
// that is missing now and then, and a label that colour and member tell.
func shop(n int) string {
	var b strings.Builder
	b.WriteString(",colour,member,age,class\n")
	for i := range n {
		colour, member, age := []string{"red", "blue", "green"}[i%3], []string{"True", "False"}[i/3%2],
			fmt.Sprint(20+i%17)
		if i%7 == 0 {
			age = ""
		}
		bought := "no"
		if i%3 == 0 || i/3%2 == 1 {
			bought = "yes"
		}
		fmt.Fprintf(&b, "%d,%s,%s,%s,%s\n", i, colour, member, age, bought)
	}
	return b.String()
}
