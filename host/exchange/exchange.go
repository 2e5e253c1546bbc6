// Package exchange trades models with other programs: it writes them as ONNX and as LIBLINEAR's
// text, and makes them from coefficients of scikit-learn.
//
// What is written predicts what the model does, but for rounding: the readers add in another order
// than the numerics contract, so scores differ in their last bits, and classes where two scores
// are as near.
package exchange

import (
	"errors"
	"io"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/model"
)

// ErrForm marks models that a form has no room for.
var ErrForm = errors.New("the model cannot be written so")

// Writers write m to w in a form for other programs: onnx or liblinear. Errors: ErrForm, of a model
// that the form has no room for, and from w.
// docs/export.md describes the forms.
var Writers = map[string]func(w io.Writer, m *model.Model) error{
	"onnx": writeONNX, "liblinear": writeLIBLINEAR,
}

// integers returns the names of classes as integers of that many bits, if all are some and written
// as Go and Python write them: 7, but not 07.
func integers(names []string, bits int) ([]int64, bool) {
	list := make([]int64, len(names))
	for i, name := range names {
		v, err := strconv.ParseInt(name, 10, bits)
		if err != nil || strconv.FormatInt(v, 10) != name {
			return nil, false
		}
		list[i] = v
	}
	return list, true
}
