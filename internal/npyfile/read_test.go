package npyfile

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestHeader(t *testing.T) {
	for _, c := range []struct {
		dtype string
		shape []int
		want  string
	}{
		{"<f4", []int{3, 2}, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"},
		{"<i8", []int{7}, "{'descr': '<i8', 'fortran_order': False, 'shape': (7,), }"},
		{"|S3", nil, "{'descr': '|S3', 'fortran_order': False, 'shape': (), }"},
		{"<f8", []int{1 << 62, 1 << 62, 0},
			"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, " +
				"4611686018427387904, 0), }"},
	} {
		h := string(Header(c.dtype, c.shape...))
		text, ok := strings.CutPrefix(h, Magic+"\x01\x00"+string([]byte{byte(len(h) - 10), 0}))
		if !ok || len(h)%64 != 0 || !strings.HasSuffix(h, "\n") || strings.TrimRight(text,
			" \n") != c.want {
			t.Errorf("%s %v: got %q, want %q", c.dtype, c.shape, h, c.want)
		}
	}
}

// file is a header of version 1 with any text.
func file(text string) string {
	return Magic + "\x01\x00" + string([]byte{byte(len(text)), byte(len(text) >> 8)}) + text
}

func TestReadHeader(t *testing.T) {
	const text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }\n"
	f4 := Type{Kind: 'f', Size: 4}
	for name, c := range map[string]struct {
		file string
		want Array
	}{
		"NumPy's": {file(text), Array{Descr: "<f4", Type: f4, Shape: []int{3, 5}}},
		"version 2": {Magic + "\x02\x00" + string([]byte{byte(len(text)), 0, 0, 0}) + text,
			Array{Size: 12 + len(text), Descr: "<f4", Type: f4, Shape: []int{3, 5}}},
		"version 3": {Magic + "\x03\x00" + string([]byte{byte(len(text)), 0, 0, 0}) + text,
			Array{Size: 12 + len(text), Descr: "<f4", Type: f4, Shape: []int{3, 5}}},
		"other writers": {file(` {"shape":(7L,),"descr":">i8" , 'fortran_order':True}`),
			Array{Descr: ">i8",
				Type: Type{Kind: 'i', Size: 8, Big: true}, Fortran: true, Shape: []int{7}}},
		"an element": {file("{'descr': '|S3', 'fortran_order': False, 'shape': ()}"), Array{Descr: "|S3",
			Type: Type{Kind: 'S', Size: 3}}},
		"truth": {file("{'descr': '?', 'fortran_order': False, 'shape': (0,)}"), Array{Descr: "?",
			Type: Type{Kind: 'b', Size: 1}, Shape: []int{0}}},
		"text": {file("{'descr': '<U5', 'fortran_order': False, 'shape': (2,)}"), Array{Descr: "<U5",
			Type: Type{Kind: 'U', Size: 20}, Shape: []int{2}}},
		"unknown": {file("{'descr': '<c16', 'fortran_order': False, 'shape': (2,)}"), Array{Descr: "<c16",
			Type: Type{Kind: 'c', Size: 16}, Shape: []int{2}}},
		"large": {file("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 9223372036854775807)}"),
			Array{Descr: "|u1", Type: Type{Kind: 'u', Size: 1}, Shape: []int{1, math.MaxInt}}},
	} {
		r := strings.NewReader(c.file + "data")
		got, err := ReadHeader(iotest.OneByteReader(r))
		if c.want.Size == 0 {
			c.want.Size = len(c.file)
		}
		if err != nil || !reflect.DeepEqual(got, c.want) || r.Len() != 4 {
			t.Errorf("%s: got %+v, %v, and %d bytes are left, wanted %+v and 4", name, got, err, r.Len(),
				c.want)
		}
	}
}

func TestReadHeaderFaults(t *testing.T) {
	const good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }"
	edit := func(old, new string) string { return file(strings.Replace(good, old, new, 1)) }
	for name, c := range map[string]struct {
		file string
		want string
	}{
		"empty":             {"", "cut short"},
		"half the magic":    {Magic[:3], "cut short"},
		"text":              {"hello", "no NumPy array"},
		"long text":         {"hello, this is no array", "no NumPy array"},
		"cut":               {file(good)[:40], "cut short"},
		"cut version 2":     {Magic + "\x02\x00\x01\x00\x00", "cut short"},
		"version 0":         {Magic + "\x00\x00\x01\x00", "version"},
		"version 4":         {Magic + "\x04\x00\x01\x00", "version"},
		"4 GiB of header":   {Magic + "\x02\x00\xff\xff\xff\xff", "bytes, wanted at most"},
		"no dictionary":     {file(""), "wanted"},
		"open":              {file(strings.TrimSuffix(good, "}")), "wanted"},
		"junk behind":       {file(good + "x"), "wanted"},
		"junk within":       {edit(" }", " x}"), "wanted"},
		"key twice":         {edit("'descr'", "'shape'"), "wanted"},
		"key missing":       {edit("'descr': '<f4', ", ""), "wanted"},
		"fourth key":        {edit("}", "'x': 1}"), "wanted"},
		"columns":           {edit("'<f4'", "[('x', '<f4')]"), "wanted"},
		"word as type":      {edit("'<f4'", "f4"), "wanted"},
		"word as shape":     {edit("(3, 5)", "True"), "wanted"},
		"size missing":      {edit("3, 5", "3, , 5"), "wanted"},
		"half a size":       {edit("3, 5", "3-1, 5"), "wanted"},
		"order":             {edit("False", "Perhaps"), "order"},
		"order in a text":   {edit("False", "'True'"), "order"},
		"negative":          {edit("3, 5", "-3, -5"), "shape"},
		"beyond int":        {edit("3, 5", "99999999999999999999, 5"), "shape"},
		"product":           {edit("3, 5", "4611686018427387904, 2"), "shape"},
		"product with 0":    {edit("3, 5", "4611686018427387904, 0, 2"), "shape"},
		"objects":           {edit("<f4", "|O"), "wanted numbers or texts"},
		"no type":           {edit("<f4", ""), "wanted numbers or texts"},
		"two orders":        {edit("<f4", "<>f4"), "wanted numbers or texts"},
		"size of a type":    {edit("<f4", "<fx"), "wanted numbers or texts"},
		"no letter":         {edit("'<f4'", `"'4"`), "wanted numbers or texts"},
		"negative type":     {edit("<f4", "<f-4"), "wanted numbers or texts"},
		"element of 64 KiB": {edit("<f4", "<U65537"), "wanted numbers or texts"},
	} {
		a, err := ReadHeader(strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %+v, %v, wanted %s", name, a, err, c.want)
		}
	}
	broken := errors.New("broken")
	if _, err := ReadHeader(iotest.ErrReader(broken)); err != broken {
		t.Errorf("got %v, wanted what the reader fails with", err)
	}
}

// A header of few bytes cannot ask for much memory.
func TestReadHeaderAllocatesLittle(t *testing.T) {
	text := Magic + "\x02\x00\x10\x27\x00\x00"
	if got := testing.AllocsPerRun(10, func() {
		if _, err := ReadHeader(strings.NewReader(text)); err == nil {
			t.Error(err)
		}
	}); got > 10 {
		t.Errorf("%v allocations", got)
	}
}

func TestDecoder(t *testing.T) {
	one := map[string][]byte{
		"|b1": {1}, "|i1": {1}, "|u1": {1}, "<i2": {1, 0}, ">i2": {0, 1}, "<u2": {1, 0}, ">u2": {0, 1},
		"<i4": {1, 0, 0, 0}, ">i4": {0, 0, 0, 1}, "<u4": {1, 0, 0, 0}, ">u4": {0, 0, 0, 1},
		"<i8": {1, 0, 0, 0, 0, 0, 0, 0}, ">i8": {0, 0, 0, 0, 0, 0, 0, 1}, "<u8": {1, 0, 0, 0, 0, 0, 0, 0},
		">u8": {0,
			0, 0, 0, 0, 0, 0, 1},
		"<f4": {0, 0, 0x80, 0x3f}, ">f4": {0x3f, 0x80, 0, 0}, "<f8": {0, 0, 0, 0, 0, 0, 0xf0, 0x3f},
		">f8": {0x3f,
			0xf0, 0, 0, 0, 0, 0, 0},
	}
	for descr, raw := range one {
		typ, err := parseType(descr)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, 3)
		Decoder(typ)(got, slices.Concat(raw, make([]byte, len(raw)), raw))
		if !slices.Equal(got, []float64{1, 0, 1}) {
			t.Errorf("%s: got %v, wanted 1 0 1", descr, got)
		}
		if typ.IsInteger() != (typ.Kind != 'f') {
			t.Errorf("%s: is it an integer?", descr)
		} else if v, ok := typ.Integer(raw); typ.IsInteger() && (v != 1 || !ok) {
			t.Errorf("%s: got %d", descr, v)
		}
	}
	minus, _ := parseType("<i4")
	if v, ok := minus.Integer([]byte{0xfe, 0xff, 0xff, 0xff}); v != -2 || !ok {
		t.Errorf("got %d, %v", v, ok)
	}
	large, _ := parseType("<u8")
	if v, ok := large.Integer(bytes.Repeat([]byte{0xff}, 8)); ok {
		t.Errorf("2^64-1 fits: %d", v)
	}
	for _, descr := range []string{"<f2", "<c16", "|S1", "<U1", "<M8", "|V8"} {
		if typ, err := parseType(descr); err != nil || Decoder(typ) != nil || typ.IsInteger() {
			t.Errorf("%s: %v", descr, err)
		}
	}
}

func TestReadAndWriteNumbers(t *testing.T) {
	roundTrip(t, []float32{1, -0.5, float32(math.Inf(1))})
	roundTrip(t, []float64{1e300, -2})
	roundTrip(t, []int32{-7, math.MaxInt32})
	roundTrip(t, []int64{})
	many := make([]int64, 2*piece+1) // more than one piece
	for k := range many {
		many[k] = int64(k) * math.MaxInt32
	}
	roundTrip(t, many)
}

func roundTrip[T Number](t *testing.T, v []T) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, v); err != nil {
		t.Fatal(err)
	}
	raw := bytes.Clone(b.Bytes())
	back := make([]T, len(v))
	if err := Read(&b, back); err != nil || !slices.Equal(back, v) || b.Len() != 0 {
		t.Errorf("%v came back as %v, %v", v, back, err)
	}
	if len(v) == 0 {
		return
	}
	if err := Read(bytes.NewReader(raw[:len(raw)-1]), back); err != io.ErrUnexpectedEOF {
		t.Errorf("cut short: %v", err)
	}
	if err := Write(brokenWriter{}, v); err != io.ErrClosedPipe {
		t.Errorf("a broken writer: %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Any header: a fault with words, or an array that Header can write again.
func FuzzReadHeader(f *testing.F) {
	f.Add(Header("<f4", 3, 5))
	f.Add(Header("|S3"))
	f.Add(append([]byte(Magic+"\x02\x00\x10\x00\x00\x00"), "{'descr': '<f8'}"...))
	f.Add([]byte(file(`{"shape":(7L,),"descr":">i8" , 'fortran_order':True}`)))
	f.Add([]byte(file("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, " +
		"99999999999), }")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := bytes.NewReader(raw)
		a, err := ReadHeader(r)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			return
		}
		total := 1
		for _, size := range a.Shape {
			if size < 0 || size > math.MaxInt/total {
				t.Fatalf("shape %v", a.Shape)
			}
			total *= max(size, 1)
		}
		if a.Size != len(raw)-r.Len() || a.Size > MaxHeader+12 || a.Type.Size < 0 ||
			a.Type.Size > 4*maxElement {
			t.Fatalf("read %+v of %d bytes", a, len(raw)-r.Len())
		}
		if decode := Decoder(a.Type); decode != nil {
			decode(make([]float64, 2), make([]byte, 2*a.Type.Size))
		}
		b, err := ReadHeader(bytes.NewReader(Header(a.Descr, a.Shape...)))
		if err != nil || b.Type != a.Type || b.Descr != a.Descr || !slices.Equal(b.Shape, a.Shape) {
			t.Fatalf("%+v came back as %+v, %v", a, b, err)
		}
	})
}
