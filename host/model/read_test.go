package model

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// part is a member with given bytes.
func part(name, text string) member {
	return member{name, uint64(len(text)), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}}
}

// texts returns the bytes of the members of the sample model by name.
func texts(t testing.TB) map[string]string {
	t.Helper()
	members, err := sample().members()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range members {
		var b strings.Builder
		if err := m.write(&b); err != nil {
			t.Fatal(err)
		}
		out[m.name] = b.String()
	}
	return out
}

func archive(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeZip(&b, members); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// npyFile returns an array with any header text, padded as numpy pads.
func npyFile(dict string, data int) string {
	h := string(npyfile.Header("<f4", 1, 1))
	h = h[:10] + dict + strings.Repeat(" ", len(h)-11-len(dict)) + "\n"
	return h + strings.Repeat("\x00", data)
}

func TestReadRefusesMembers(t *testing.T) {
	good := texts(t)
	w, c, meta := good["W.npy"], good["confusion.npy"], good["meta.json"]
	edit := func(text, old, new string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in %q", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}
	const dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }"
	type parts = map[string]string // what differs from the sample; "-" means without it
	for _, x := range []struct {
		name  string
		parts parts
		want  string // empty: accepted
	}{
		{"unchanged", nil, ""},
		{"no W", parts{"W.npy": "-"}, "W.npy member"},
		{"no confusion", parts{"confusion.npy": "-"}, "confusion.npy meta.json condition_number 1.5"},
		{"no meta", parts{"meta.json": "-"}, "meta.json member"},
		{"one more", parts{"extra.npy": w}, `"extra.npy" W.npy confusion.npy meta.json`},
		{"text as W", parts{"W.npy": "hello"}, "W.npy header"},
		{"empty W", parts{"W.npy": ""}, "W.npy header"},
		{"no data", parts{"W.npy": w[:128]}, "W.npy 0 3×5 4"},
		{"data cut", parts{"W.npy": w[:len(w)-1]}, "W.npy 59"},
		{"data too long", parts{"W.npy": w + "\x00\x00\x00\x00"}, "W.npy 64"},
		{"float64 W", parts{"W.npy": npyFile(edit(dict, "<f4", "<f8"), 120)}, `W.npy "<f8" "<f4"`},
		{"big-endian W", parts{"W.npy": npyFile(edit(dict, "<f4", ">f4"), 60)}, `W.npy ">f4"`},
		{"Fortran order", parts{"W.npy": npyFile(edit(dict, "False", "True"), 60)}, "W.npy Fortran C"},
		{"one dimension", parts{"W.npy": npyFile(edit(dict, "(3, 5)", "(15,)"), 60)}, "W.npy 15"},
		{"no columns", parts{"W.npy": npyFile(edit(dict, "(3, 5)", "(3, 0)"), 0)}, "W.npy 3 0"},
		{"huge", parts{"W.npy": npyFile(edit(dict, "(3, 5)", "(2147483647, 2147483647)"), 60)},
			"W.npy 60 2147483647×2147483647"},
		{"NaN in W", parts{"W.npy": w[:128] + "\x00\x00\xc0\x7f" + w[132:]}, `W NaN "a" 0`},
		{"confusion of float32", parts{"confusion.npy": w}, `confusion.npy "<f4" "<f8"`},
		{"confusion of 1×9", parts{"confusion.npy": edit(c, "(3, 3)", "(1, 9)")},
			"confusion.npy 1 9 3 3"},
		{"W of 5×3", parts{"W.npy": edit(w, "(3, 5)", "(5, 3)")}, "confusion.npy 3 3 5 5"},
		{"one class", parts{"W.npy": edit(w, "(3, 5), } ", "(1, 15), }"), "confusion.npy": npyFile(
			"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", 8)}, "1 classes 2"},
		{"Inf in confusion",
			parts{"confusion.npy": c[:128] + "\x00\x00\x00\x00\x00\x00\xf0\x7f" + c[136:]},
			"confusion +Inf 0 0"},
		{"no JSON", parts{"meta.json": "hello"}, "meta.json invalid"},
		{"empty JSON", parts{"meta.json": ""}, "meta.json JSON"},
		{"array", parts{"meta.json": "[]"}, "meta.json json unmarshal"},
		{"null", parts{"meta.json": "null"}, "meta.json format_version"},
		{"text after", parts{"meta.json": meta + "{}"}, "meta.json '{'"},
		{"version 0", parts{"meta.json": edit(meta, `"format_version":4`, `"format_version":0`)}, "meta.json format_version 0 4"},
		{"version 1.5", parts{"meta.json": edit(meta, `"format_version":4`, `"format_version":1.5`)}, "meta.json json 1.5"},
		{"older", parts{"meta.json": edit(meta, `"format_version":4`, `"format_version":3`)}, "meta.json format_version 3 4"},
		{"newer", parts{"meta.json": edit(meta, `"format_version":4`, `"format_version":5`)}, "meta.json format_version 5 4 another version"},
		{"newer in every way", parts{"meta.json": `{"format_version":5, "new": 1}`, "W.npy": "-", "new.npy": "x"}, "another version"},
		{"no temperature", parts{"meta.json": edit(meta, `,"temperature":0.1`, ``)}, ""},
		{"temperature 0.1 below", parts{"meta.json": edit(meta, `"temperature":0.1`, `"temperature":-0.1`)}, "meta.json temperature -0.1 float32"},
		{"unknown field", parts{"meta.json": edit(meta, `"seed"`, `"sede"`)}, `meta.json json "sede"`},
		{"fewer classes", parts{"meta.json": edit(meta, `"a",`, ``)}, "meta.json classes 2 3"},
		{"equal classes", parts{"meta.json": edit(meta, `"a",`, `"é\u2028",`)}, `meta.json classes "é\u2028" twice`},
		{"not UTF-8", parts{"meta.json": edit(meta, "é", "\xe9")}, "meta.json UTF-8"},
		{"unknown step", parts{"meta.json": edit(meta, "standardize,", "whiten,")},
			"meta.json normalization"},
		{"preparation of another width", parts{"meta.json": edit(meta, "standardize,bias",
			"standardize,l2")}, "meta.json preparation 4 5"},
		{"no preparation", parts{"meta.json": meta[:strings.Index(meta, `"preparation"`)] + meta[strings.Index(meta, `"condition_number"`):]}, "meta.json preparation 0 4"},
		{"infinite factor", parts{"meta.json": edit(meta, `"a":[0.1`, `"a":[1e39`)}, "meta.json json 1e39"},
		{"too large a number", parts{"meta.json": edit(meta, `"condition_number":1.5`, `"condition_number":1e999`)}, "meta.json json 1e999"},
		{"a field twice", parts{"meta.json": edit(meta, `{"format_version":4`,
			`{"format_version":4,"format_version":4`)}, "meta.json format_version twice"},
		{"null for a number", parts{"meta.json": edit(meta, `"condition_number":1.5`,
			`"condition_number":null`)}, "meta.json condition_number null"},
		{"another spelling", parts{"meta.json": edit(meta, `"seed"`, `"Seed"`)}, `meta.json "Seed"`},
		{"negative seed", parts{"meta.json": edit(meta, `"seed":1`, `"seed":-1`)}, "meta.json json uint64"},
		{"deep", parts{"meta.json": edit(meta, `{"select":"error"`, `{"x":`+strings.Repeat("[", 100000)+strings.Repeat("]", 100000)+`,"select":"error"`)}, "depth"},
	} {
		var members []member
		for _, name := range []string{"W.npy", "confusion.npy", "meta.json", "extra.npy", "new.npy"} {
			text, ok := x.parts[name]
			if !ok {
				text, ok = good[name]
			}
			if ok && text != "-" {
				members = append(members, part(name, text))
			}
		}
		m, err := decode(archive(t, members...))
		if x.want == "" {
			if err != nil {
				t.Errorf("%s: %v", x.name, err)
			}
			continue
		}
		if err == nil || m != nil || !facts.Told(err, x.want) {
			t.Errorf("%s: error %v, want %q", x.name, err, x.want)
		}
	}
}

func TestReadRefusesArchives(t *testing.T) {
	good := encode(t, sample())
	p := texts(t)
	w, c, meta := part("W.npy", p["W.npy"]), part("confusion.npy", p["confusion.npy"]),
		part("meta.json", p["meta.json"])
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, name := range []string{"W.npy", "confusion.npy", "meta.json"} {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, p[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	edit := func(at int, with string) []byte {
		b := bytes.Clone(good)
		copy(b[at:], with)
		return b
	}
	directory := int(binary.LittleEndian.Uint32(good[len(good)-6:]))
	for _, x := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "0 bytes"},
		{"cut to 100 bytes", good[:100], "cut short"},
		{"cut by one byte", good[:len(good)-1], "cut short"},
		{"bare .npy", []byte(p["W.npy"]), "another file"},
		{"duplicate W", archive(t, w, w, c, meta), `"W.npy" twice`},
		{"no members", archive(t), "meta.json member"},
		{"compressed", packed.Bytes(), "compressed encrypted numpy.savez"},
		{"directory entry damaged", edit(directory, "XX"), "another file"},
		{"encrypted", edit(directory+8, "\x01"), "W.npy compressed encrypted"},
		{"size claims 4 GB", edit(directory+20, "\xfe\xff\xff\xff\xfe\xff\xff\xff"), "W.npy 4294967294"},
		{"sizes disagree", edit(directory+20, "\x01"), "W.npy 188"},
		{"offset far away", edit(directory+42, "\xff\xff\xff\x7f"), "W.npy"},
		{"check sum of W", edit(30+len("W.npy")+128+8, "!"), "W.npy damaged checksum"},
		{"check sum of meta.json", bytes.Replace(good, []byte("v0.1.0"), []byte("v0.1.1"), 1),
			"meta.json damaged checksum"},
	} {
		m, err := decode(x.file)
		if err == nil || m != nil || !facts.Told(err, x.want) {
			t.Errorf("%s: error %v, want %q", x.name, err, x.want)
		}
	}
}

// No flipped bit goes unnoticed, unless it has no meaning (a date, say): then the
// model is the same.
func TestEveryFlippedBit(t *testing.T) {
	good := encode(t, sample())
	b := bytes.Clone(good)
	accepted := 0
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		m, err := decode(b)
		if err == nil {
			accepted++
			if !reflect.DeepEqual(m, sample()) {
				t.Errorf("bit %d of byte %d: another model is read", i%8, i/8)
			}
		}
		b[i/8] ^= 1 << (i % 8)
	}
	if accepted > len(good) {
		t.Errorf("%d of %d flipped bits were accepted", accepted, 8*len(good))
	}
	for n := range good {
		if _, err := decode(good[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are read as a model", n, len(good))
		}
	}
}

// A small file cannot ask for much memory.
func TestReadAllocatesLittle(t *testing.T) {
	p := texts(t)
	huge := npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1000000000), }", 60)
	claims := archive(t, part("meta.json", p["meta.json"]), part("W.npy", huge),
		part("confusion.npy", p["confusion.npy"]))
	sizes := encode(t, sample())
	directory := int(binary.LittleEndian.Uint32(sizes[len(sizes)-6:]))
	copy(sizes[directory+20:], "\xff\xff\xff\x7f\xff\xff\xff\x7f")
	for name, file := range map[string][]byte{"shape": claims, "size": sizes} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := decode(file); err == nil {
			t.Errorf("%s: read, want an error", name)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%s: %d bytes were allocated for a file of %d", name, got, len(file))
		}
	}
}

// Any bytes: an error or a model that can be written and read again.
func FuzzRead(f *testing.F) {
	good := encode(f, sample())
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Add(encode(f, kernelSample(false)))
	f.Add(encode(f, kernelSample(true)))
	f.Fuzz(func(t *testing.T, b []byte) { readAgain(t, b) })
}

// Any contents of the members, past the check sums that stop FuzzRead.
func FuzzMembers(f *testing.F) {
	p := texts(f)
	f.Add(p["W.npy"], p["confusion.npy"], p["meta.json"])
	f.Add(npyFile("{'shape':(3,5),'fortran_order':False,'descr':'<f4'}", 60), p["confusion.npy"],
		p["meta.json"])
	f.Add("", p["W.npy"], `{"format_version":2}`)
	f.Fuzz(func(t *testing.T, w, confusion, meta string) {
		readAgain(t, archive(t, part("W.npy", w), part("confusion.npy", confusion), part("meta.json",
			meta)))
	})
}

func readAgain(t *testing.T, b []byte) {
	m, err := decode(b)
	if (m == nil) != (err != nil) {
		t.Fatalf("model %v with error %v", m, err)
	}
	if err != nil {
		return
	}
	again := encode(t, m)
	m2, err := decode(again)
	if err != nil {
		t.Fatalf("written again, it is not read: %v", err)
	}
	if !bytes.Equal(again, encode(t, m2)) {
		t.Fatal("written twice, the bytes differ")
	}
}
