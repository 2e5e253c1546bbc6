package file

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	parquetformat "github.com/parquet-go/parquet-go/format"
	"github.com/xuri/excelize/v2"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// leaving sets the memory limit so that the test can allocate left more bytes.
func leaving(t *testing.T, left int64) {
	t.Helper()
	debug.FreeOSMemory()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	before := debug.SetMemoryLimit(int64(now.Sys-now.HeapReleased) + left)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
}

// packedFile packs parts, each so often, as Zstandard: few bytes that become many.
func packedFile(t *testing.T, parts ...any) string {
	t.Helper()
	var b strings.Builder
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for k := 0; k < len(parts); k += 2 {
		part := []byte(fmt.Sprint(parts[k]))
		for left := parts[k+1].(int); left > 0; {
			times := min(left, 1<<20/len(part)+1)
			if _, err := z.Write(bytes.Repeat(part, times)); err != nil {
				t.Fatal(err)
			}
			left -= times
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// workbook returns an Excel file whose sheet has the rows in XML.
func workbook(t *testing.T, rows string) string {
	t.Helper()
	f := excelize.NewFile()
	if err := f.SetCellValue("Sheet1", "A1", 1); err != nil {
		t.Fatal(err)
	}
	b, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return string(copyArchive(t, b.Bytes(), zip.Deflate, func(name string, text []byte) []byte {
		if name != "xl/worksheets/sheet1.xml" {
			return text
		}
		from, to := bytes.Index(text, []byte("<row")), bytes.Index(text, []byte("</sheetData>"))
		return []byte(string(text[:from]) + rows + string(text[to:]))
	}))
}

// A file that needs more memory than there is, whatever its format and however small it is packed,
// is an error that says so, long before memory ends.
func TestMoreThanMemory(t *testing.T) {
	const left = 40 << 20
	const many = 20e6
	header := func(descr string, shape ...int) string {
		return string(npyfile.Header(descr, shape...))
	}
	fortran := strings.Replace(header("<f4", many/10, 10), "False", "True ", 1)
	array := func(name, text string) string { return name + ".npy\x00" + text }
	labels := filepath.Join(t.TempDir(), "y.npy.zst")
	if err := os.WriteFile(labels, []byte(packedFile(t, header("|u1", many), 1, "\x01", int(many))),
		0o666); err != nil {
		t.Fatal(err)
	}
	raw := parquetBytes(t, 5)
	for _, c := range []struct {
		what, name, text string
		o                Options
	}{
		{"numbers of a CSV", "f.csv", packedFile(t, "1.5,2,a\n", int(many/2)), Options{}},
		{"texts of a CSV", "f.csv", packedFile(t, "p,q,r,s,y\n", 1, "red,x,y,z,a\nblue,y,z,x,b\n",
			int(many/4)), lenientOptions()},
		{"a line of a CSV", "f.csv", packedFile(t, "1,", int(many), "2\n", 1), Options{NoLabels: true}},
		{"dense rows of LIBSVM", "f.svm", packedFile(t, "1 1:1 200:1\n2 3:1\n", 200000),
			Options{Storage: "dense"}},
		{"sparse rows of LIBSVM", "f.svm", packedFile(t,
			"1 1:1 3:2 8:1 2147483647:1\n2 3:1\n", int(many/4)), Options{}},
		{"an array", "f.npy", packedFile(t, header("<f4", many/10, 10), 1, "\x00\x00\x80\x3f", int(many)),
			Options{NoLabels: true}},
		{"a wide array", "f.npy", packedFile(t, header("<f4", 1, many), 1, "\x00\x00\x80\x3f", int(many)),
			Options{NoLabels: true}},
		{"an array in Fortran order", "f.npy", packedFile(t, fortran, 1, "\x00\x00\x80\x3f", int(many)),
			Options{NoLabels: true}},
		{"IDX", "f.idx", packedFile(t, "\x00\x00\x08\x03\x00\x10\x00\x00\x00\x00\x00\x05\x00\x00\x00\x04",
			1, "\x01", 20<<20), Options{NoLabels: true}},
		{"labels of an array", "f.csv", "1\n2\n", Options{Labels: labels}},
		{"starts of sparse rows", "f.npz", archiveOf(t, array("shape", header("<i8", 2)+
			"\x00\x2d\x31\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"), array("indptr",
			header("<i8", many+1)+strings.Repeat("\x00", 8*(many+1))), array("indices", header("<i4", 0)),
			array("data", header("<f4", 0))), Options{NoLabels: true}},
		{"values of one sparse row", "f.npz", archiveOf(t, array("shape", header("<i8", 2)+
			"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x2d\x31\x01\x00\x00\x00\x00"), array("indptr",
			header("<i8", 2)+strings.Repeat("\x00", 8)+"\x00\x00\x31\x01\x00\x00\x00\x00"), array("indices",
			header("<i4", 0x1310000)), array("data", header("<f4", 0x1310000))), Options{NoLabels: true}},
		{"a description", "f.npz", archiveOf(t, "dataset.json\x00"+strings.Repeat(" ", 16<<20)), Options{}},
		{"an unpacked .npz", "f.npz.zst", packedFile(t, "PK\x03\x04", 1, "\x00", int(many)), Options{}},
		{"rows of Parquet", "f.parquet", string(withFooter(t, raw, func(m *parquetformat.FileMetaData) {
			m.NumRows, m.RowGroups[0].NumRows = many, many
			for k := range m.RowGroups[0].Columns {
				m.RowGroups[0].Columns[k].MetaData.NumValues = many
			}
		})), Options{}},
		{"a column of Parquet", "f.parquet", string(withFooter(t, raw,
			func(m *parquetformat.FileMetaData) {
				m.RowGroups[0].Columns[0].MetaData.TotalUncompressedSize = 1 << 40
			})), Options{}},
		{"cells of Excel", "f.xlsx", workbook(t, strings.Repeat(`<row><c><v>1</v></c></row>`, 60000)),
			Options{}},
		{"columns of Excel", "f.xlsx", workbook(t, strings.Repeat(`<row><c r="XFD1"/></row>`, 20)),
			Options{}},
		{"the last row of Excel", "f.xlsx", workbook(t, `<row r="1048576"><c><v>1</v></c></row>`),
			Options{}},
		{"an unpacked Excel file", "f.xlsx", workbook(t, strings.Repeat(" ", 8<<20)), Options{}},
	} {
		t.Run(c.what, func(t *testing.T) {
			leaving(t, left)
			d, err := ReadFrom(t.Context(), strings.NewReader(c.text), c.name, c.o)
			if err == nil {
				t.Fatalf("read %d examples of %d features", d.N, d.D)
			}
			if !strings.HasPrefix(err.Error(), c.name) && !strings.HasPrefix(err.Error(), labels) ||
				!errors.Is(err, memory.ErrBudget) {
				t.Error(err)
			}
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			if more := int64(now.Sys-now.HeapReleased) - debug.SetMemoryLimit(-1); more > left/2 {
				t.Errorf("took %d bytes more than there were: %v", more, err)
			}
		})
	}
}

// archiveOf returns a zip of members, each its name, a zero byte and its bytes.
func archiveOf(t *testing.T, members ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		name, text, _ := strings.Cut(m, "\x00")
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
