package dataset

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// deepestSchema is how deep the columns of a Parquet file may be nested. The library keeps the whole path of each
// group, which takes gigabytes of a small file that is nested thousands deep.
const deepestSchema = 64

// footerGrowth is how many bytes of memory a byte of a footer may become: the shortest structs that it lists.
const footerGrowth = 256

// checkParquetSchema refuses a footer whose columns are not those of its schema, or that is beyond the limits. The
// library takes the type of a column from what the schema calls it, whatever the schema says that it is stored as.
func checkParquetSchema(footer []byte) error {
	if err := memory.Check(memory.Product(len(footer), footerGrowth),
		fmt.Sprintf("a footer of %d bytes", len(footer))); err != nil {
		return err
	}
	var meta parquetformat.FileMetaData
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, footer, &meta); err != nil {
		return fmt.Errorf("cannot read its footer: %w", err)
	}
	leaves, err := parquetLeaves(meta.Schema)
	if err != nil {
		return err
	}
	for g, group := range meta.RowGroups {
		if len(group.Columns) != len(leaves) {
			return fmt.Errorf("found %d columns in row group %d, wanted %d as in its schema",
				len(group.Columns), g+1, len(leaves))
		}
		for k, leaf := range leaves {
			m := &group.Columns[k].MetaData
			if m.Type != leaf.kind || !slices.Equal(m.PathInSchema, leaf.path) {
				return fmt.Errorf("found column %d of row group %d to be %s of type %s, wanted %s of type %s as in its schema",
					k+1, g+1, quoteList(m.PathInSchema), m.Type, quoteList(leaf.path), leaf.kind)
			}
		}
	}
	return nil
}

// parquetLeaf is a column of a schema.
type parquetLeaf struct {
	path []string
	kind parquetformat.Type // what is stored
}

// parquetLeaves returns the columns of a schema, which is a tree whose groups stand before what is in them.
func parquetLeaves(schema []parquetformat.SchemaElement) (leaves []parquetLeaf, err error) {
	var path []string
	var left []int32 // of each group on the way to here, how many are to come
	for k, e := range schema {
		if k > 0 {
			for len(left) > 0 && left[len(left)-1] == 0 {
				left, path = left[:len(left)-1], path[:max(0, len(path)-1)]
			}
			if len(left) == 0 {
				return nil, fmt.Errorf("found %d names in its schema, wanted %d as its groups say", len(schema), k)
			}
			left[len(left)-1]--
		}
		switch n := e.NumChildren.V; {
		case n < 0 || int(n) > len(schema):
			return nil, fmt.Errorf("found a group of %d columns in a schema of %d names", n, len(schema))
		case n > 0 && len(left) == deepestSchema:
			return nil, fmt.Errorf("found columns nested more than %d deep, wanted plain ones", deepestSchema)
		case n > 0 || k == 0:
			left = append(left, n)
			if k > 0 {
				path = append(path, e.Name)
			}
		case !e.Type.Valid:
			return nil, fmt.Errorf("found no type of column %s in its schema", quote(e.Name))
		default:
			leaves = append(leaves, parquetLeaf{append(slices.Clone(path), e.Name), e.Type.V})
		}
	}
	for _, n := range left {
		if n > 0 {
			return nil, fmt.Errorf("found the end of its schema within a group")
		}
	}
	return leaves, nil
}
