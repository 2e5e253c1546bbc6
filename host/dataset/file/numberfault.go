package file

import (
	"math"
	"strconv"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// numberFault says what is wrong with a text that decimal.Parse refused.
func numberFault(text []byte) string {
	s := string(text)
	switch {
	case s == "":
		return `found an empty field "", wanted a number; fill in or remove examples with missing values`
	case decimal.IsNonFinite(s):
		return "found " + quote.Text(s) + ", wanted a finite number; replace it or remove the example"
	}
	if decimal.BeyondRange(text) {
		return "found " + quote.Text(s) +
			", wanted a number within the range of float32 (±3.4e38); rescale the column"
	}
	fault := "found " + quote.Text(s) + ", wanted a decimal number such as 12, -0.5 or 1e-3"
	if decimal.HasComma(s) {
		fault += "; if that is a decimal comma, say so (" +
			quote.Option("decimal", decimalComma) + ")"
	}
	return fault
}

// valueFault says what is wrong with a value that is not finite.
func valueFault(v float64) string {
	text := "found " + strconv.FormatFloat(v, 'g', -1, 64)
	if v != v || math.IsInf(v, 0) {
		return text + ", wanted a finite number; replace it or remove the example"
	}
	return text + ", a number beyond the range of float32 (±3.4e38); rescale the column"
}

// nullFault says that a value is missing.
const nullFault = "found a missing value (null), wanted a number; fill in or remove examples " +
	"with missing values"
