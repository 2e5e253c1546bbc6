package active

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/smallfile"
)

// sessionVersion is the version of the session file.
const sessionVersion = 1

// Session is all that is known of a series of questions to an expert, which one file holds: what
// there is besides follows from it, the data and the options.
type Session struct {
	Version int `json:"format_version"`
	// Settings are those of who began it, by which everything follows; it goes on with the same ones.
	Settings map[string]string `json:"settings"`
	Pool     string            `json:"pool_sha256"` // dataset.Hash of the examples to ask about
	// of those labelled at the beginning; "" for none
	Labelled string   `json:"labelled_sha256"`
	Classes  []string `json:"classes"`
	Examples int      `json:"examples"` // of the pool
	// Predicted is the class of each example of the pool, by the model that the last questions came
	// from; empty as long as there is no model.
	Predicted []int32 `json:"predicted"`
	Rounds    []Round `json:"rounds"`
}

// Round are the questions that were asked at a time.
type Round struct {
	Asked []int `json:"asked"` // examples of the pool, counted from 0, the one worth most first
	// of each its class, Unknown as long as there is no answer, or Aside
	Answers []int32 `json:"answers"`
	// Agreement compares the model that they came from with that of the round before; nil if there
	// are none.
	Agreement *Agreement `json:"agreement,omitempty"`
}

// Open returns how many questions of the last round have no answer.
func (s *Session) Open() (n int) {
	if len(s.Rounds) == 0 {
		return 0
	}
	for _, y := range s.Rounds[len(s.Rounds)-1].Answers {
		if y == Unknown {
			n++
		}
	}
	return n
}

// Labels returns what is known of each example of the pool: its class, Unknown or Aside.
func (s *Session) Labels() []int32 {
	y := make([]int32, s.Examples)
	for i := range y {
		y[i] = Unknown
	}
	for _, r := range s.Rounds {
		for k, i := range r.Asked {
			y[i] = r.Answers[k]
		}
	}
	return y
}

// Agreements returns the agreements of the rounds that have one, in order.
func (s *Session) Agreements() (all []Agreement) {
	for _, r := range s.Rounds {
		if r.Agreement != nil {
			all = append(all, *r.Agreement)
		}
	}
	return all
}

// Save writes the session to a file, whole or not at all.
func (s *Session) Save(path string) error {
	s.Version = sessionVersion
	return atomicfile.Write(path, func(w io.Writer) error { return s.write(w) })
}

// write writes a line for each round, so that people can read it.
func (s *Session) write(w io.Writer) error {
	head := *s
	head.Rounds = []Round{}
	text, err := encode(head)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(strings.TrimSuffix(text, "]}"))
	for k, r := range s.Rounds {
		if text, err = encode(r); err != nil {
			return err
		}
		if k > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.WriteString(text)
	}
	b.WriteString("\n]}\n")
	_, err = w.Write(b.Bytes())
	return err
}

func encode(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// LoadSession reads a session file, and trusts nothing in it. The error names path, and wraps
// fs.ErrNotExist if there is none.
func LoadSession(path string) (*Session, error) {
	text, err := smallfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the session: %w", path, err)
	}
	s := &Session{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(s); err == nil && len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		err = errors.New("something behind its end")
	}
	if err != nil {
		at := d.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		line := 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte{'\n'})
		return nil, fmt.Errorf("%s:%d: found %w, wanted a session as query writes it; begin a new one "+
			"in another folder, with the answers so far in --labelled", path, line, err)
	}
	if fault := s.check(); fault != "" {
		return nil, fmt.Errorf("%s: found %s, wanted a session as query writes it; begin a new one in "+
			"another folder, with the answers so far in --labelled", path, fault)
	}
	return s, nil
}

// check says what is wrong with a session, "" if nothing is.
func (s *Session) check() string {
	switch {
	case s.Version != sessionVersion:
		return fmt.Sprintf("format version %d where this program knows %d", s.Version, sessionVersion)
	case len(s.Classes) < 2 || s.Examples < 1:
		return fmt.Sprintf("%d classes and %d examples", len(s.Classes), s.Examples)
	}
	if n := len(s.Predicted); n != 0 && n != s.Examples {
		return fmt.Sprintf("%d predictions of %d examples", n, s.Examples)
	}
	for i, y := range s.Predicted {
		if y < 0 || int(y) >= len(s.Classes) {
			return fmt.Sprintf("prediction %d of example %d (counted from 0)", y, i)
		}
	}
	asked := make([]bool, s.Examples)
	for number, r := range s.Rounds {
		if len(r.Answers) != len(r.Asked) {
			return fmt.Sprintf("round %d of %d questions and %d answers", number+1, len(r.Asked),
				len(r.Answers))
		}
		for k, i := range r.Asked {
			if i < 0 || i >= s.Examples || asked[i] {
				return fmt.Sprintf("example %d (counted from 0) among the questions of round %d, out of range "+
					"or asked before", i, number+1)
			}
			asked[i] = true
			if y := r.Answers[k]; y < Aside || y >= int32(len(s.Classes)) ||
				y == Unknown && number < len(s.Rounds)-1 {
				return fmt.Sprintf("answer %d to question %d of round %d", y, k+1, number+1)
			}
		}
	}
	return ""
}
