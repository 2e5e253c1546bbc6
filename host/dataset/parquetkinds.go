package dataset

import (
	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"
)

// kinds returns what the columns that are features hold, in their order, and refuses what is no feature.
func (r *parquetReader) kinds() (kinds []string, err error) {
	asked, fault := r.columns.asked(r.o.Encode)
	if fault != "" {
		return nil, r.src.errorf("%s", fault)
	}
	mixed := r.o.Encode != nil || r.o.Encoding != nil
	for j, c := range r.leaves {
		if r.columns.role[j] == ignored {
			continue
		}
		if !c.Leaf() || c.Repeated() {
			return nil, r.src.errorf("%s is nested, wanted one plain value per example; leave it out", r.columns.describe(j))
		}
		holds, isFeature := parquetKind(c), r.columns.role[j] == feature
		_, decimal := parquetDecimal(c)
		switch {
		case decimal && isFeature && asked[j] == "":
			kinds = append(kinds, kindNumber)
		case decimal && isFeature:
			kinds = append(kinds, asked[j])
		case decimal: // a label, or what names the example: a text, as in a CSV
		case holds == 0 && isFeature && mixed && parquetDate(c):
			return nil, r.src.errorf("%s", datesFault(&r.columns, j, "values of type "+c.Type().String()))
		case holds == 0 || holds == 'S' && isFeature && !mixed:
			return nil, r.src.errorf("%s is of type %s, wanted float, double, decimals, integers or booleans; "+
				"leave it out or make it numbers", r.columns.describe(j), c.Type())
		case isFeature && asked[j] != "":
			kinds = append(kinds, asked[j])
		case isFeature && holds == 'S':
			kinds = append(kinds, kindCategory)
		case isFeature:
			kinds = append(kinds, kindNumber)
		}
	}
	return kinds, nil
}

// parquetDate reports whether a column holds dates or times.
func parquetDate(c *parquet.Column) bool {
	t := c.Type().LogicalType()
	if t == nil {
		return false
	}
	switch t.Value.(type) {
	case *parquetformat.DateType, *parquetformat.TimeType, *parquetformat.TimestampType:
		return true
	}
	return false
}

// parquetKind returns what a column holds: 'f', 'i', 'u', 'b', 'S' for a text, 0
// for all that is none of them (times; decimals, which parquetDecimal knows).
func parquetKind(c *parquet.Column) byte {
	unsigned, number := false, true
	if t := c.Type().LogicalType(); t != nil {
		switch annotation := t.Value.(type) {
		case nil, *parquetformat.StringType, *parquetformat.EnumType:
		case *parquetformat.IntType:
			unsigned = !annotation.IsSigned
		default:
			number = false
		}
	}
	switch kind := c.Type().Kind(); {
	case !number:
		return 0
	case kind == parquet.Boolean:
		return 'b'
	case kind == parquet.Int32 || kind == parquet.Int64:
		if unsigned {
			return 'u'
		}
		return 'i'
	case kind == parquet.Float || kind == parquet.Double:
		return 'f'
	case kind == parquet.ByteArray:
		return 'S'
	}
	return 0
}
