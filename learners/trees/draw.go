package trees

import "math/bits"

// Streams of random numbers: what they decide.
const (
	streamRows = iota + 1
	streamColumns
	streamLabels
	streamFolds
)

// draw returns a random number for the index of a stream of a tree: the finaliser of SplitMix64
// (Steele, Lea & Flood, OOPSLA 2014) of counters, so that any of them is known without the others.
func draw(seed uint64, stream, tree, index int) uint64 {
	return mix(key2(seed, stream, tree) + uint64(index)*golden)
}

const golden = 0x9e3779b97f4a7c15

// key2 returns what the numbers of a stream of a tree have in common.
func key2(seed uint64, stream, tree int) uint64 {
	return mix(mix(seed+uint64(stream)*golden) + uint64(tree)*golden)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number below n made of a draw.
func below(draw uint64, n int) int {
	high, _ := bits.Mul64(draw, uint64(n))
	return int(high)
}

// poisson are the shares of 2^32 up to which a Poisson variable of mean 1 is 0, 1, …, 7.
var poisson = [...]uint32{1580030169, 3160060337, 3950075422, 4213413783, 4279248374, 4292415292,
	4294609778, 4294923276}

// times returns how often an example is in the sample of a draw: a Poisson variable of mean 1.
func times(draw uint64) (n uint8) {
	share := uint32(draw >> 32)
	for int(n) < len(poisson) && share >= poisson[n] {
		n++
	}
	return n
}

// choose moves count of the values of list to its front, drawn from a stream of a tree at the
// counters from first on: the steps of Fisher and Yates. It returns how many it has moved.
func choose(list []int, count int, seed uint64, stream, tree, first int) int {
	count = min(count, len(list))
	for k := range count {
		other := k + below(draw(seed, stream, tree, first+k), len(list)-k)
		list[k], list[other] = list[other], list[k]
	}
	return count
}
