package dataset

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/internal/store"
)

// errAlone says that one reader has to tell what is wrong, where ranks that have a part each
// cannot.
var errAlone = errors.New("a mistake that shows in the whole file alone")

// census counts what the examples have of each mark.
type census struct {
	n      int     // examples
	counts []int64 // examples that have the mark
	totals []int64 // how often they have it, if it is a term
}

// count counts the marks of e.
func (s *cells) count(e Examples) *census {
	c := &census{n: e.N, counts: make([]int64, len(s.marks)), totals: make([]int64, len(s.marks))}
	for k, m := range e.Columns {
		if c.counts[m]++; s.marks[m].kind == isTerm {
			c.totals[m] += int64(e.Values[k])
		}
	}
	return c
}

// toldMarks are the marks of a rank.
type toldMarks struct {
	N       int        `json:"n"`
	Columns []int32    `json:"columns"`
	Kinds   []markKind `json:"kinds"`
	Levels  []string   `json:"levels"`
	Counts  []int64    `json:"counts"`
	Totals  []int64    `json:"totals"`
	First   []int      `json:"first"` // where unknown levels are found first
}

// meet makes marks of all that any rank has, and returns the census of all examples; it takes all
// ranks. Marks have other numbers on each rank, which shows in nothing.
func (s *cells) meet(share *store.Ranks, own *census) (*census, error) {
	if share == nil {
		return own, nil
	}
	mine := toldMarks{N: own.n, Counts: own.counts, Totals: own.totals}
	known := make(map[mark]int32, len(s.marks))
	for m, what := range s.marks {
		known[what] = int32(m)
		mine.Columns, mine.Kinds = append(mine.Columns, what.column), append(mine.Kinds, what.kind)
		mine.Levels, mine.First = append(mine.Levels, what.level), append(mine.First, s.first[int32(m)])
	}
	each, err := tell(share, mine)
	if err != nil {
		return nil, err
	}
	isUnseen := make(map[int32]bool)
	clear(s.first)
	for k := range s.columns {
		s.columns[k].unseen = 0
	}
	all := &census{counts: make([]int64, len(s.marks)), totals: make([]int64, len(s.marks))}
	for _, told := range each {
		all.n += told.N
		for k, level := range told.Levels {
			what := mark{told.Columns[k], level, told.Kinds[k]}
			at, there := known[what]
			if !there {
				at = s.adopt(what)
				known[what] = at
				all.counts, all.totals = append(all.counts, 0), append(all.totals, 0)
			}
			if told.First[k] > 0 && !isUnseen[at] {
				// As newUnseen has it, in the order of the file.
				if c := &s.columns[what.column]; c.unseen < mostUnseen {
					s.first[at], c.other = told.First[k], at
					isUnseen[at] = true
					c.unseen++
				} else {
					at = c.other
				}
			}
			all.counts[at] += told.Counts[k]
			all.totals[at] += told.Totals[k]
		}
	}
	if s.recipe == nil && s.tooMany() {
		return nil, errAlone
	}
	return all, nil
}

// adopt makes a mark that another rank has.
func (s *cells) adopt(what mark) int32 {
	at := s.newMark(int(what.column), what.kind, what.level)
	switch c := &s.columns[what.column]; what.kind {
	case isNumber:
		c.number = at
	case isGap:
		c.gap = at
	default:
		c.levels[s.marks[at].level] = at
	}
	return at
}

// sum makes the counts of examples in columns the counts of all ranks. All ranks call it.
func (s *cells) sum(share *store.Ranks) error {
	if share == nil {
		return nil
	}
	spoken := make([]int64, len(s.columns))
	for k := range s.columns {
		spoken[k] = int64(s.columns[k].spoken)
	}
	err := share.Sum(share.Ctx, spoken)
	for k := range s.columns {
		s.columns[k].spoken = int(spoken[k])
	}
	return err
}
