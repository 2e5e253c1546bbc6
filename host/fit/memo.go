package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// memo keeps what the finished parts of a run have found, in the order in which they ended. The
// key of a part of another part begins with the key of the whole and a slash.
type memo struct {
	Parts []part
	Last  string // the key of the part that ended last

	fit      *softmax.State // of the run
	restored *softmax.State // of a saved run, whose parts are still being found; nil after that
}

type part struct {
	Key   string
	Value json.RawMessage
}

// decode reads what the part has found.
func (p part) decode(found any) error {
	if err := json.Unmarshal(p.Value, found); err != nil {
		return fmt.Errorf("%w: %s: %w", errDamaged, p.Key, err)
	}
	return nil
}

// remember returns what the part of this key has found. If the memo does not have it, make finds
// it, and the memo keeps it in place of the parts that belong to it.
func remember[T any](m *memo, key string, make func() (T, error)) (T, error) {
	if found, ok, err := recall[T](m, key); ok || err != nil {
		return found, err
	}
	found, err := make()
	if err != nil {
		return found, err
	}
	return found, m.keep(key, found)
}

// recall returns what the part of this key has found, and whether there is such a part.
func recall[T any](m *memo, key string) (found T, ok bool, err error) {
	at := slices.IndexFunc(m.Parts, func(p part) bool { return p.Key == key })
	if at < 0 {
		return found, false, nil
	}
	if err := m.Parts[at].decode(&found); err != nil {
		return found, false, err
	}
	if s := m.restored; s != nil && s.Key == "" && m.Last == key {
		*m.fit, m.restored = *s, nil
	}
	return found, true, nil
}

// keep enters what a part has found, in place of the parts that belong to it and of what it had
// found before.
func (m *memo) keep(key string, found any) error {
	value, err := json.Marshal(found)
	if err != nil {
		return err
	}
	m.Parts = slices.DeleteFunc(m.Parts, func(p part) bool {
		return p.Key == key || strings.HasPrefix(p.Key, key+"/")
	})
	m.Parts, m.Last = append(m.Parts, part{key, value}), key
	return nil
}

// resumes takes over the state with which the run was saved, if it has not been yet, and reports
// whether the fit of this key was then under way.
func (m *memo) resumes(key string) bool {
	if m.restored == nil {
		return false
	}
	*m.fit, m.restored = *m.restored, nil
	return m.fit.Key == key
}

// saved is what Save writes, as JSON: its numbers are finite, and read back with the same bits.
type saved struct {
	Memo memo
	Fit  softmax.State
	Cut  bool
}

var errDamaged = errors.New("softmax: found a damaged state of a run")

func (r *training) Save() ([]byte, error) {
	s := saved{Memo: r.memo, Fit: r.solver.State, Cut: r.cut}
	if r.memo.restored != nil {
		s.Fit = *r.memo.restored
	}
	body, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return learners.Seal(body), nil
}

func (r *training) Restore(state []byte) error {
	body, err := learners.Unseal(state)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	var s saved
	if err := json.Unmarshal(body, &s); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err := s.Fit.Check(r.problem.Q * r.problem.X.D); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	r.cut, r.memo.Parts, r.memo.Last, r.memo.restored = s.Cut, s.Memo.Parts, s.Memo.Last, &s.Fit
	for _, key := range []string{"noise", "em"} {
		at := slices.IndexFunc(r.memo.Parts, func(p part) bool { return p.Key == key })
		if r.noise == nil || at < 0 {
			continue
		}
		var made rounds
		if err := r.memo.Parts[at].decode(&made); err != nil {
			return err
		}
		r.noise.state = made.Noise
	}
	return nil
}
