package sketch

// Making the sketch of the array X (n·d values) costs the time of some readings of X: the wider
// X is, the fewer. Bounds then save part of each later reading, so they pay only in a long run
// over many values in many columns.
const (
	payAfter  = 8       // assignments before the sketch is made
	payFrom   = 1 << 20 // least n·d, values of X
	payColumn = 128     // least d, columns of X
)

// Pays says whether bounds pay for n dense examples of d columns in assignment number
// steps, counted from 1, and those after it.
func Pays(n, d, steps int) bool {
	return steps > payAfter && n*d >= payFrom && d >= payColumn
}

// directions returns how many directions are kept of examples of d columns.
func directions(d int) int {
	switch {
	case d >= 512:
		return 64
	case d >= 256:
		return 32
	}
	return min(d, 16)
}

// span returns how many rounds are remembered for q classes.
func span(q int) int { return max(16, min(256, 1<<14/q)) }

// pace says which assignments use bounds. Where they leave most examples open, they
// rest for a while, and longer the next time.
type pace struct {
	inUse bool // in the assignment under way
	rest  int  // assignments still to go without bounds
	pause int  // how many they were the last time
}

// next begins an assignment and sets inUse. open is how many of the n examples were
// left open by the last one, if that used bounds.
func (p *pace) next(open, n int) {
	switch {
	case p.inUse && open > n/2:
		p.pause = min(2*p.pause+1, 31)
		p.rest = p.pause
	case p.inUse:
		p.pause = 0
	}
	p.inUse = p.rest == 0
	if !p.inUse {
		p.rest--
	}
}

// classSet is some of Q classes: [c] says whether c is one of them.
type classSet []bool

func (s classSet) add(classes []int) {
	for _, c := range classes {
		s[c] = true
	}
}

// list returns them, increasing.
func (s classSet) list() (classes []int) {
	for c, there := range s {
		if there {
			classes = append(classes, c)
		}
	}
	return classes
}
