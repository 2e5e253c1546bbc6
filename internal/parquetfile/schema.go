package parquetfile

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// deepestSchema bounds nesting: the library keeps the whole path of each group.
const deepestSchema = 64

// footerGrowth is how many bytes of memory a byte of a footer may become.
const footerGrowth = 256

// checkSchema returns an error if a footer's columns are not those of its schema, or beyond limits.
func checkSchema(footer []byte) error {
	if err := memory.Check(memory.Product(len(footer), footerGrowth),
		fmt.Sprintf("a footer of %d bytes", len(footer))); err != nil {
		return err
	}
	var meta format.FileMetaData
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, footer, &meta); err != nil {
		return fmt.Errorf("cannot read its footer: %w", err)
	}
	leaves, err := schemaLeaves(meta.Schema)
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
				return fmt.Errorf("found column %d of row group %d to be %.40q of type %s, wanted %.40q of "+
					"type %s as in its schema", k+1, g+1, m.PathInSchema, m.Type, leaf.path, leaf.kind)
			}
		}
	}
	return nil
}

// schemaLeaf is a column of a schema.
type schemaLeaf struct {
	path []string
	kind format.Type // what is stored
}

// schemaLeaves returns the columns of a schema, in which a group stands before its columns.
func schemaLeaves(schema []format.SchemaElement) (leaves []schemaLeaf, err error) {
	var path []string
	var left []int32 // columns to come of each group on the path
	for k, e := range schema {
		if k > 0 {
			for len(left) > 0 && left[len(left)-1] == 0 {
				left, path = left[:len(left)-1], path[:max(0, len(path)-1)]
			}
			if len(left) == 0 {
				return nil, fmt.Errorf("found %d names in its schema, wanted %d as its groups say", len(schema),
					k)
			}
			left[len(left)-1]--
		}
		switch n := e.NumChildren.V; {
		case n < 0 || int(n) > len(schema):
			return nil, fmt.Errorf("found a group of %d columns in a schema of %d names", n, len(schema))
		case n > 0 && len(left) == deepestSchema:
			return nil, fmt.Errorf("found columns nested more than %d deep, wanted plain ones",
				deepestSchema)
		case n > 0 || k == 0:
			left = append(left, n)
			if k > 0 {
				path = append(path, e.Name)
			}
		case !e.Type.Valid:
			return nil, fmt.Errorf("found no type of column %s in its schema", fmt.Sprintf("%.40q", e.Name))
		default:
			leaves = append(leaves, schemaLeaf{append(slices.Clone(path), e.Name), e.Type.V})
		}
	}
	for _, n := range left {
		if n > 0 {
			return nil, fmt.Errorf("found the end of its schema within a group")
		}
	}
	return leaves, nil
}
