// Package decimal reads decimal numbers as float64 that become the nearest float32.
package decimal

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unsafe"
)

// pow10 holds the powers of ten that the digits behind a point can take.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// MinNormal is the smallest positive normal float32.
const MinNormal = 0x1p-126

// Parse returns the float64 nearest to a decimal number, unless rounding it to float32 would round
// twice: then it is the neighbour that becomes the nearest float32. It is false for anything else,
// and for what float32 cannot hold.
func Parse(text []byte) (float64, bool) {
	if v, end, ok := Scan(text, 0); ok && end == len(text) {
		return v, true
	}
	for _, c := range text {
		if !('0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E') {
			return 0, false
		}
	}
	// The view of text does not outlive the call.
	s := unsafe.String(unsafe.SliceData(text), len(text))
	nearest, err := strconv.ParseFloat(s, 32)
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	if v != nearest && float32(v) != float32(nearest) {
		v = math.Nextafter(v, nearest)
	}
	return v, err == nil
}

// Scan reads a number without an exponent at text[i] and returns where it ends; false means: ask
// Parse, which it equals otherwise. With digits below 2^53 one float64 operation is exact to a
// rounding; only middles between two float32 and subnormals need the other way.
func Scan(text []byte, i int) (v float64, end int, ok bool) {
	negative := false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		negative = text[i] == '-'
		i++
	}
	var m uint64
	start := i
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			break
		}
		m = m*10 + uint64(c)
	}
	digits, behind := i-start, 0
	if i < len(text) && text[i] == '.' {
		i++
		start = i
		for ; i < len(text); i++ {
			c := text[i] - '0'
			if c > 9 {
				break
			}
			m = m*10 + uint64(c)
		}
		behind = i - start
		digits += behind
	}
	if digits == 0 || digits > 19 || m >= 1<<53 || // 19 digits do not overflow m
		i < len(text) && text[i]|0x20 == 'e' {
		return 0, i, false
	}
	f := float64(m) / pow10[behind]
	if math.Float64bits(f)&(1<<29-1) == 1<<28 || (f < MinNormal && m != 0) {
		return 0, i, false
	}
	if negative {
		f = -f
	}
	return f, i, true
}

// BeyondRange reports whether text is a number that float32 cannot hold.
func BeyondRange(text []byte) bool {
	if len(bytes.Trim(text, "0123456789+-.eE")) > 0 {
		return false
	}
	v, err := strconv.ParseFloat(string(text), 32)
	return err != nil && math.IsInf(v, 0)
}

// IsNonFinite reports whether s is a word for a number that is not finite.
func IsNonFinite(s string) bool {
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case "nan", "inf", "infinity":
		return true
	}
	return false
}

// Flush returns v, or +0 if v is subnormal (clause 2), which it counts.
func Flush(v float32, subnormals *int) float32 {
	if v < MinNormal && v > -MinNormal && v != 0 {
		*subnormals++
		return 0
	}
	return v
}

func IsInteger(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Trim cuts spaces and tabs at both ends.
func Trim(text []byte) []byte {
	if len(text) > 0 && (text[0] <= ' ' || text[len(text)-1] <= ' ') {
		return bytes.Trim(text, " \t")
	}
	return text
}

func Finite(v float32) bool { return math.Float32bits(v)&0x7f800000 != 0x7f800000 }

// HasComma reports whether a text is a number with one comma.
func HasComma(text string) bool {
	whole, part, found := strings.Cut(text, ",")
	return found && IsInteger(whole) && IsInteger("+"+part)
}
