package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

func plainServer(t testing.TB) *Server {
	s := New(models()["linear"], simd.New(), Options{MaxRows: 50})
	t.Cleanup(s.batches.end)
	return s
}

// bits are those of numbers, which tell -0 from 0.
func bits(x []float32) (all []uint32) {
	for _, v := range x {
		all = append(all, math.Float32bits(v))
	}
	return all
}

// samePlain checks that what is plain is read as everything else is.
func samePlain(t testing.TB, s *Server, kind string, text []byte) (plain bool) {
	t.Helper()
	read, slow := s.plainRows, s.readJSON
	if kind == "npy" {
		read = s.plainArray
		slow = func(text []byte) (dataset.Examples, []string, error) {
			return s.readFile(context.Background(), bytes.NewReader(text), "npy")
		}
	}
	got, plain := read(text)
	if !plain {
		return false
	}
	want, warnings, err := slow(text)
	if err == nil && want.Sparse() {
		want = want.Dense()
	}
	if err != nil || warnings != nil || got.N != want.N || got.D != want.D || !slices.Equal(bits(got.X), bits(want.X)) {
		t.Errorf("%q: found %d×%d %v, wanted %d×%d %v, %v, %v", text, got.N, got.D, got.X, want.N,
			want.D, want.X, warnings, err)
	}
	return true
}

// Plain requests are read as all others are, and what is not plain is left to what reads all others.
func TestPlain(t *testing.T) {
	s := plainServer(t)
	for text, want := range map[string]bool{
		`{"rows":[[1,2,3,4]]}`: true,
		" {\n\"rows\" : [ [ 1 , -2.5e+3,0.1E-2,\t-0] ,[0,1e-50,7,8]]}\r\n": true,
		`{"rows":[]}`:                                        false,
		`{"rows":[[1,2,3]]}`:                                 false,
		`{"rows":[[1,2,3,4,5]]}`:                             false,
		`{"rows":[[1,2,3,4],]}`:                              false,
		`{"rows":[[1,2,3,04]]}`:                              false,
		`{"rows":[[1,2,3,+4]]}`:                              false,
		`{"rows":[[1,2,3,4.]]}`:                              false,
		`{"rows":[[1,2,3,.4]]}`:                              false,
		`{"rows":[[1,2,3,4e]]}`:                              false,
		`{"rows":[[1,2,3,-]]}`:                               false,
		`{"rows":[[1,2,3,1e39]]}`:                            false,
		`{"rows":[[1,2,3,null]]}`:                            false,
		`{"rows":[[1,2,3,4]]}}`:                              false,
		`{"rows":[[1,2,3,4]]`:                                false,
		`{"rows":[[1,2,3,4]],"columns":["u","v","w w","x"]}`: false,
		`{"Rows":[[1,2,3,4]]}`:                               false,
		`{"rows":[[1,2,3,4]` + strings.Repeat(",[1,2,3,4]", 49) + `]}`:              true,
		`{"rows":[[1,2,3,4]` + strings.Repeat(",[1,2,3,4]", 50) + `]}`:              false,
		`{"rows":[{"columns":[0],"values":[1]}]}`:                                   false,
		`{"rows":[[1,2,3,4]` + strings.Repeat(`,[100000000000,2,3,4e-7]`, 9) + `]}`: true,
	} {
		if plain := samePlain(t, s, "json", []byte(text)); plain != want {
			t.Errorf("%q: plain %v, wanted %v", text, plain, want)
		}
	}
	good := array([]float32{1, 2, 3, 4, 5, float32(math.Copysign(0, -1)), 7, 8}, 4)
	for text, want := range map[string]bool{
		string(good): true, string(good[:len(good)-1]): false, string(good) + "x": false, "": false,
		string(array([]float32{1, 2, 3, float32(math.NaN())}, 4)):                        false,
		string(array([]float32{1, 2, 3, float32(math.Inf(-1))}, 4)):                      false,
		string(array([]float32{1, 2, -1e-40, 4}, 4)):                                     false,
		string(array([]float32{1, 2, 3}, 3)):                                             false,
		string(array(make([]float32, 204), 4)):                                           false,
		string(npyfile.Header("<f4", 0, 4)):                                              false,
		string(npyfile.Header("<f8", 1, 4)) + strings.Repeat("\x00", 32):                 false,
		string(npyfile.Header(">f4", 1, 4)) + strings.Repeat("\x00", 16):                 false,
		string(npyfile.Header("<f4", 4)) + strings.Repeat("\x00", 16):                    false,
		strings.Replace(string(good), "False", "True ", 1):                               false,
		strings.Replace(string(good), "'fortran_order': False", "'fortran_order': 1", 1): false,
	} {
		if plain := samePlain(t, s, "npy", []byte(text)); plain != want {
			t.Errorf("%.200q: plain %v, wanted %v", text, plain, want)
		}
	}
}

// FuzzPlain: whatever is plain, is what it is to encoding/json and to the reader of files.
func FuzzPlain(f *testing.F) {
	s := plainServer(f)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 5 {
		x, _ := blobs(3, rng)
		text, err := json.Marshal(map[string]any{"rows": rows(x.X, x.D)})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(array(x.X, x.D))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		samePlain(t, s, "json", text)
		samePlain(t, s, "npy", text)
	})
}
