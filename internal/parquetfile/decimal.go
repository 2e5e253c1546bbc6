package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// mostDecimal and mostScale bound bytes and digits of a decimal: no writer makes more.
const mostDecimal, mostScale = 32, 76

// decimalScale returns how many digits behind the point a column of decimals has.
func decimalScale(c *parquet.Column) (scale int, ok bool) {
	t := c.Type().LogicalType()
	if t == nil {
		return 0, false
	}
	decimal, ok := t.Value.(*format.DecimalType)
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

// decimalText returns an unscaled integer with a point before its last scale digits; little-endian
// if t is an integer.
func decimalText(t npyfile.Type, raw []byte, scale int) ([]byte, error) {
	n := new(big.Int)
	switch {
	case t.Kind == 'i' && t.Size == 4:
		n.SetInt64(int64(int32(binary.LittleEndian.Uint32(raw))))
	case t.Kind == 'i':
		n.SetInt64(int64(binary.LittleEndian.Uint64(raw)))
	case len(raw) == 0 || len(raw) > mostDecimal:
		return nil, fmt.Errorf("found a decimal of %d bytes, wanted 1 to %d", len(raw), mostDecimal)
	default:
		if n.SetBytes(raw); raw[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
		}
	}
	text := []byte(n.Text(10))
	if scale == 0 {
		return text, nil
	}
	first := 0
	if n.Sign() < 0 {
		first = 1
	}
	if missing := scale + 1 - (len(text) - first); missing > 0 {
		text = slices.Insert(text, first, []byte(strings.Repeat("0", missing))...)
	}
	return slices.Insert(text, len(text)-scale, '.'), nil
}
