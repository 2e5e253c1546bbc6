package info_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestInfo(t *testing.T) {
	stdout, _ := clitest.Succeed(t, "info", "--data", clitest.Digits, "--json")
	i := clitest.Decode[dataset.Info](t, stdout)
	// testdata/README.md: 1797 images of 8×8 pixels of 0 to 16.
	if i.Path != clitest.Digits || i.Format != "csv" || i.Examples != 1797 || i.Features != 64 ||
		len(i.Classes) != 10 ||
		i.Storage != "dense" || i.Bytes != 4*64*1797 || i.Min != 0 || i.Max != 16 ||
		i.Classes[3] != (dataset.ClassCount{Class: "3", Examples: 183}) ||
		i.EmptyFeatures != 3 || i.Duplicates != 0 || len(i.SHA256) != 64 {
		t.Errorf("found %+v", i)
	}
	stdout, _ = clitest.Succeed(t, "info", "--data", clitest.Digits, "--storage", "sparse", "--json")
	s := clitest.Decode[dataset.Info](t, stdout)
	if s.Storage != "sparse" || s.SHA256 != i.SHA256 || s.Density != i.Density ||
		s.MeanAbs != i.MeanAbs || s.ConstantFeatures != i.ConstantFeatures {
		t.Errorf("sparse %+v, dense %+v", s, i)
	}
}

// What comes from a pipe has a format too, and can be split without a name that
// says one.
func TestInfoOfStandardInput(t *testing.T) {
	dir := t.TempDir()
	for format, data := range map[string]string{
		"csv":    clitest.Write(t, dir, "data", "1,0,a\n2,3,b\n3,3,a\n4,5,b\n"),
		"libsvm": clitest.Write(t, dir, "text", "a 1:1\nb 1:2 2:3\na 1:3\nb 2:7\n"),
		"npz":    filepath.Join(dir, "d.npz"),
	} {
		if format == "npz" {
			succeedTo(t, data, filepath.Join(dir, "text"))
		}
		f, err := os.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		defer func(old *os.File) { os.Stdin = old }(os.Stdin)
		os.Stdin = f
		stdout, _ := clitest.Succeed(t, "info", "--data", "-")
		if !strings.Contains(stdout,
			"data               standard input\nformat             "+format+"\n") {
			t.Errorf("%s: stdout %s", format, stdout)
		}
		part := filepath.Join(dir, format+"-part")
		clitest.Succeed(t, "split", "--data", data, "--counts", "2,2", "--out", part, "--out", part+"2")
		stdout, _ = clitest.Succeed(t, "info", "--data", part, "--json")
		if i := clitest.Decode[dataset.Info](t, stdout); i.Format != format {
			t.Errorf("a part of a %s file is %s", format, i.Format)
		}
	}
}

func TestSmallBytesText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1 KiB",
		1536: "1.5 KiB", 3 << 20: "3 MiB", 5 << 40: "5 TiB", 9 << 50: "9216 TiB"} {
		if got := app.BytesText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// A copy in any format that can be written has the content of the original.
func TestConvert(t *testing.T) {
	hash := func(path string, more ...string) string {
		t.Helper()
		stdout, _ := clitest.Succeed(t, append([]string{"info", "--json", "--data", path}, more...)...)
		return clitest.Decode[dataset.Info](t, stdout).SHA256
	}
	dir := t.TempDir()
	want := hash(clitest.Letter, "--label-column", "first")
	for _, name := range []string{"a.csv", "a.tsv", "a.svm", "a.csv.gz", "a.csv.zst", "a.libsvm.gz",
		"a.npz", "a.npz.zst"} {
		out := filepath.Join(dir, name)
		_, stderr := clitest.Succeed(t, "convert", "--data", clitest.Letter,
			"--label-column", "first", "--out", out)
		format := file.FormatOfName(name)
		if !facts.Told(stderr, "20000 examples × 16 features 26 "+out) ||
			!strings.Contains(stderr, format) {
			t.Errorf("%s: stderr %s", name, stderr)
		}
		if got := hash(out, "--label-column", "first"); got != want {
			t.Errorf("%s has another content", name)
		}
	}
	if !bytes.HasPrefix(clitest.Read(t, filepath.Join(dir, "a.csv.gz")), []byte("\x1f\x8b")) ||
		!bytes.HasPrefix(clitest.Read(t, filepath.Join(dir, "a.csv")), []byte("T,")) {
		t.Error("not packed, or the label is not first")
	}
	for _, from := range []string{"a.svm", "a.npz"} {
		if again := filepath.Join(dir, "again.csv"); succeedTo(t, again, filepath.Join(dir, from)) &&
			hash(again) != want {
			t.Errorf("%s: the copy of a copy has another content", from)
		}
	}
	bare := hash(clitest.Letter, "--no-labels", "--label-column", "first")
	for _, to := range []string{"npy", "npz"} {
		out := filepath.Join(dir, "bare")
		succeedTo(t, out, clitest.Letter, "--no-labels", "--label-column", "first", "--to", to)
		if hash(out, "--no-labels") != bare {
			t.Errorf("%s without labels has another content", to)
		}
	}
}

// succeedTo converts a file.
func succeedTo(t *testing.T, out, data string, more ...string) bool {
	t.Helper()
	clitest.Succeed(t, append([]string{"convert", "--data", data, "--out", out}, more...)...)
	return true
}
