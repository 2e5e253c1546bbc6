//go:build linux && cgo && !noopencl

package gpu

import (
	"fmt"
	"math"
	"reflect"

	"github.com/jgillich/go-opencl/cl"
)

// The arguments of the kernels: a struct for each, with a field for each parameter, in their order.
// The kernel's file says what they are. An int is an int of OpenCL, which has 32 bits.

type scoreArgs struct {
	X, Weights         *buffer[float32]
	Classes            *buffer[int32]
	Scores             *buffer[float32]
	Rows, D, Q, Chosen int
}

// sparseRows are sparse examples, in the lay-out of kernels/sparse.cl.
type sparseRows struct {
	Columns         *buffer[int32]
	Values          *buffer[float32]
	Slices, Lengths *buffer[int32]
}

type scoreSparseArgs struct {
	sparseRows
	Weights            *buffer[float32]
	Classes            *buffer[int32]
	Scores             *buffer[float32]
	Rows, D, Q, Chosen int
}

type predictArgs struct {
	Scores     *buffer[float32]
	Prediction *buffer[int32]
	Rows, Q    int
}

type assignArgs struct {
	Scores       *buffer[float32]
	Place, Moved *buffer[int32]
	Rows, Q      int
	Alpha        float32
}

type moveSumsArgs struct {
	X           *buffer[float32]
	List, Cells *buffer[int32]
	Sums        *buffer[int64]
	Scale       float32
	D           int
	Small       bool
}

type addRangesArgs struct {
	Partial, Sums *buffer[int64]
	N             uint64
	Ranges        int
}

type moveSumsSparseArgs struct {
	sparseRows
	List, Cells *buffer[int32]
	Sums        *buffer[int64]
	Scale       float32
	D           int
}

type clearSumsArgs struct {
	A      *buffer[int64]
	CountA uint64
	B      *buffer[int64]
	CountB uint64
}

type updateVectorsArgs struct {
	Sums  *buffer[int64]
	Inv   *buffer[float32]
	Pairs *buffer[int32]
	Z     *buffer[float32]
	Unit  float32
	D, Q  int
}

type normsArgs struct {
	Sums                 *buffer[int64]
	Inv                  *buffer[float32]
	Regions              *buffer[int32]
	Partial              *buffer[float32]
	Unit                 float32
	D, Q, Chunks, Chosen int
}

type residualsArgs struct {
	Scores, Targets, Weight *buffer[float32]
	Order                   *buffer[int32]
	Coefs                   *buffer[float32]
	Losses                  *buffer[int64]
	First, End, Q           int
	Given, Sorted           bool
	Scale                   float32
	Grads                   *buffer[int32]
	Trees                   int
}

type weightedArgs struct {
	X, Coefs                       *buffer[float32]
	Partial                        *buffer[int64]
	Scale                          float32
	First, End, D, Classes, Ranges int
}

type weightedSparseArgs struct {
	Examples          *buffer[int32]
	Values            *buffer[float32]
	Segments          *buffer[int32]
	Coefs             *buffer[float32]
	Partial           *buffer[int64]
	Scale             float32
	Count, D, Classes int
}

// ending is what becomes of a product, the last parameters of kernels/kernelvalue.cl.
type ending struct {
	Squares, More *buffer[float32]
	Gamma, Coef0  float32
	Degree        int
}

type productArgs struct {
	A              *buffer[float32]
	Width          int
	B, Out         *buffer[float32]
	OutWidth, Rows int
	Ending         int
	ending
}

type productSparseArgs struct {
	sparseRows
	Order          *buffer[int32]
	B              *buffer[float32]
	Width          int
	Out            *buffer[float32]
	OutWidth, Rows int
	Ending         int
	ending
}

type squaresArgs struct {
	A, Squares  *buffer[float32]
	Rows, Width int
}

type squaresSparseArgs struct {
	sparseRows
	Order   *buffer[int32]
	Squares *buffer[float32]
	Rows    int
}

type histogramArgs struct {
	Bins                                  *buffer[uint8]
	Order, Grads, Labels                  *buffer[int32]
	Times                                 *buffer[uint8]
	Features                              *buffer[int32]
	Partial                               *buffer[int64]
	Size                                  uint64
	Rows, Stride, From, To, Ranges, Class int
	Counted, Often                        bool
	Width, Low, Wide, Limit, Count, Per   int
	Fresh                                 bool
}

// binSet is a set of bins, the last parameters of the kernels that split nodes.
type binSet struct{ A, B, C, D uint64 }

type splitCountArgs struct {
	Bins                                  *buffer[uint8]
	Order, Lefts                          *buffer[int32]
	Rows, Stride, Feature, From, To, Span int
	binSet
}

type splitMoveArgs struct {
	Bins                                          *buffer[uint8]
	Order, Moved, Lefts                           *buffer[int32]
	Rows, Stride, Feature, From, To, Span, Middle int
	binSet
}

type addTreeArgs struct {
	Bins           *buffer[uint8]
	Nodes          *buffer[int32]
	Values, Scores *buffer[float32]
	Stride, N      int
	Q, Class       int
	Count, Leaves  int
}

type probeArgs struct {
	Numbers   *buffer[float32]
	Integers  *buffer[int64]
	Answers   *buffer[int32]
	N, Rounds int
}

// layOutArgs returns the values of a struct of arguments as the binding takes them.
func layOutArgs(args any) (values []any, err error) {
	return appendArgs(nil, reflect.ValueOf(args))
}

func appendArgs(values []any, v reflect.Value) (_ []any, err error) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case f.Kind() == reflect.Struct:
			if values, err = appendArgs(values, f); err != nil {
				return nil, err
			}
			continue
		case f.Kind() == reflect.Int && (f.Int() > math.MaxInt32 || f.Int() < math.MinInt32):
			return nil, fmt.Errorf("argument %s is %d, which has more than 32 bits",
				v.Type().Field(i).Name, f.Int())
		case f.Kind() == reflect.Int:
			values = append(values, int32(f.Int()))
		case f.Kind() == reflect.Bool:
			values = append(values, number(f.Bool()))
		case f.Kind() == reflect.Float32:
			values = append(values, float32(f.Float()))
		case f.Kind() == reflect.Uint64:
			values = append(values, f.Uint())
		default:
			b, is := f.Interface().(interface{ object() *cl.MemObject })
			if !is {
				return nil, fmt.Errorf("argument %s has the type %v, want a buffer, int, bool, uint64 or "+
					"float32", v.Type().Field(i).Name, f.Type())
			}
			values = append(values, b.object())
		}
	}
	return values, nil
}
