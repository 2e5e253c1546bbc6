package dataset

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"
)

// mostDecimal is the most bytes of an integer that a decimal is made of, and mostScale the most digits behind its
// point: no writer makes more of either.
const mostDecimal, mostScale = 32, 76

// parquetDecimal returns how many digits behind the point the numbers of a column of DECIMAL have.
func parquetDecimal(c *parquet.Column) (scale int, ok bool) {
	t := c.Type().LogicalType()
	if t == nil {
		return 0, false
	}
	decimal, ok := t.Value.(*parquetformat.DecimalType)
	if !ok || decimal.Scale < 0 || decimal.Scale > mostScale {
		return 0, false
	}
	switch c.Type().Kind() {
	case parquet.Int32, parquet.Int64, parquet.ByteArray:
		return int(decimal.Scale), true
	case parquet.FixedLenByteArray:
		return int(decimal.Scale), c.Type().Length() > 0 && c.Type().Length() <= mostDecimal
	}
	return 0, false
}

// decimalText is the number of an unscaled integer: little-endian of 4 or 8 bytes if t is an integer, else big-endian.
func decimalText(t numberType, raw []byte, scale int) ([]byte, string) {
	n := new(big.Int)
	switch {
	case t.Kind == 'i' && t.Size == 4:
		n.SetInt64(int64(int32(binary.LittleEndian.Uint32(raw))))
	case t.Kind == 'i':
		n.SetInt64(int64(binary.LittleEndian.Uint64(raw)))
	case len(raw) == 0 || len(raw) > mostDecimal:
		return nil, fmt.Sprintf("found a decimal of %d bytes, wanted 1 to %d", len(raw), mostDecimal)
	default:
		if n.SetBytes(raw); raw[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
		}
	}
	text := []byte(n.Text(10))
	if scale == 0 {
		return text, ""
	}
	first := 0
	if n.Sign() < 0 {
		first = 1
	}
	if missing := scale + 1 - (len(text) - first); missing > 0 {
		text = slices.Insert(text, first, []byte(strings.Repeat("0", missing))...)
	}
	return slices.Insert(text, len(text)-scale, '.'), ""
}

// decimalCell is the float32 nearest to a decimal, of the bits of overflow if there is none.
func decimalCell(t numberType, raw []byte, scale int) float32 {
	text, fault := decimalText(t, raw, scale)
	if v, ok := parseNumber(text); ok && fault == "" {
		return v
	}
	return math.Float32frombits(overflowBits)
}

// decimalTexts keeps the values of a column as texts, nil for none.
func decimalTexts(t numberType, scale int, texts []*string) taker {
	return func(i int, raw []byte) {
		if raw == nil {
			return
		}
		number, _ := decimalText(t, raw, scale)
		text := string(number)
		texts[i] = &text
	}
}
