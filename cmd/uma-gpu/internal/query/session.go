package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/setting"
	"github.com/uma-gpu/uma-gpu/internal/smallfile"
)

const sessionVersion = 1

// session is all that is known of a series of questions to an expert, which one file holds: what
// there is besides follows from it, the data and the options.
type session struct {
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
	Rounds    []round `json:"rounds"`
}

// round are the questions that were asked at a time.
type round struct {
	Asked []int `json:"asked"` // examples of the pool, counted from 0, the one worth most first
	// of each its class, active.Unknown as long as there is no answer, or active.Aside
	Answers []int32 `json:"answers"`
	// Agreement compares the model that they came from with that of the round before; nil if there
	// are none.
	Agreement *agreement `json:"agreement,omitempty"`
}

// open returns how many questions of the last round have no answer.
func (s *session) open() (n int) {
	if len(s.Rounds) == 0 {
		return 0
	}
	for _, y := range s.Rounds[len(s.Rounds)-1].Answers {
		if y == active.Unknown {
			n++
		}
	}
	return n
}

// labels returns the class of each example of the pool, active.Unknown or active.Aside.
func (s *session) labels() []int32 {
	y := make([]int32, s.Examples)
	for i := range y {
		y[i] = active.Unknown
	}
	for _, r := range s.Rounds {
		for k, i := range r.Asked {
			y[i] = r.Answers[k]
		}
	}
	return y
}

// steady returns the agreements of the last three rounds if their mean kappa is 0.99 or more, which
// advises to stop asking (Bloodgood and Vijay-Shanker, A method for stopping active learning based
// on stabilizing predictions, 2009); else nil. A model that has settled need not be good.
func (s *session) steady() []agreement {
	const rounds, kappa = 3, 0.99
	var last []agreement
	for _, r := range s.Rounds {
		if r.Agreement != nil {
			last = append(last, *r.Agreement)
		}
	}
	if len(last) < rounds {
		return nil
	}
	last = last[len(last)-rounds:]
	sum := 0.0
	for _, r := range last {
		sum += r.Kappa
	}
	if sum < kappa*rounds {
		return nil
	}
	return last
}

// save writes the session to a file, whole or not at all: a line for each round, so that people can
// read it.
func (s *session) save(path string) error {
	s.Version = sessionVersion
	head := *s
	head.Rounds = []round{}
	text, err := encode(head)
	if err != nil {
		return err
	}
	lines := make([]string, len(s.Rounds))
	for k, r := range s.Rounds {
		if lines[k], err = encode(r); err != nil {
			return err
		}
		lines[k] = "\n" + lines[k]
	}
	text = strings.TrimSuffix(text, "]}") + strings.Join(lines, ",") + "\n]}\n"
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func encode(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// loadSession reads a session file, and trusts nothing in it. The error names path, and wraps
// fs.ErrNotExist if there is none.
func loadSession(path string) (*session, error) {
	text, err := smallfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the session: %w", path, err)
	}
	s := &session{}
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
		return nil, fmt.Errorf("%s:%d: found %w, %s", path, line, err, sessionAdvice())
	}
	if fault := s.check(); fault != "" {
		return nil, fmt.Errorf("%s: found %s, %s", path, fault, sessionAdvice())
	}
	return s, nil
}

func sessionAdvice() string {
	return "wanted a session as query writes it; begin a new one in another folder, with the " +
		"answers so far in " + setting.Spell("labelled", "")
}

// check says what is wrong with a session, "" if nothing is.
func (s *session) check() string {
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
				return fmt.Sprintf("example %d (counted from 0) among the questions of round %d, out of "+
					"range or asked before", i, number+1)
			}
			asked[i] = true
			if y := r.Answers[k]; y < active.Aside || y >= int32(len(s.Classes)) ||
				y == active.Unknown && number < len(s.Rounds)-1 {
				return fmt.Sprintf("answer %d to question %d of round %d", y, k+1, number+1)
			}
		}
	}
	return ""
}

// agreement is how two models of one pool compare.
type agreement struct {
	Changed float64 `json:"changed"` // the share of the examples whose predicted class is another one
	Kappa   float64 `json:"kappa"`   // agreement beyond chance (Cohen 1960), 1 where nothing changed
}

// compare compares what two models predict of the same examples, one at least, of q classes.
func compare(before, after []int32, q int) agreement {
	n := float64(len(before))
	a, b := make([]float64, q), make([]float64, q)
	same := 0.0
	for i, class := range before {
		a[class]++
		b[after[i]]++
		if after[i] == class {
			same++
		}
	}
	if same == n {
		return agreement{Kappa: 1}
	}
	chance := 0.0
	for k := range a {
		chance += float64(float64(a[k]/n) * float64(b[k]/n))
	}
	kappa := 0.0
	if chance < 1 {
		kappa = (float64(same/n) - chance) / (1 - chance)
	}
	return agreement{Changed: 1 - float64(same/n), Kappa: kappa}
}
