package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
)

// hostileFactor multiplies the damages that are drawn at random.
var hostileFactor = flag.Int("hostile", 1,
	"how many times the random damages to try; above 1, with all cases")

// later says that case k of a group is left to make hostile: all but one in part, which differ
// from group to group.
func later(k, group, part int) bool { return *hostileFactor == 1 && k%part != group%part }

// hostile is one command line that meets something bad.
type hostile struct {
	name string
	args []string
	dir  string // that nothing may be written to
	file string // that the message has to name
	want string // printed if the damage does no harm

	made    string // the file that the command writes, "" if none
	content []byte // what it is if the damage does no harm
}

// harmless says that the command may succeed.
func (h hostile) harmless() bool { return h.want != "" || h.content != nil }

// judge runs a case: an exit code that is not 0, a message that names the file, no file, no trace,
// and all of it soon; or what the same command prints of the whole file.
func (h hostile) judge(t *testing.T) {
	t.Helper()
	before := names(t, h.dir)
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	var stdout, stderr bytes.Buffer
	start := time.Now()
	code := func() (code int) {
		defer func() {
			if value := recover(); value != nil {
				t.Errorf("%s: panicked with %v", h.name, value)
				code = -1
			}
		}()
		return program.Run(ctx, h.args, &stdout, &stderr)
	}()
	text := stderr.String()
	switch {
	case code == -1:
	case ctx.Err() != nil:
		t.Errorf("%s: took more than %v", h.name, time.Since(start))
	case code == app.ExitOK && !h.harmless():
		t.Errorf("%s: taken\n%s%s", h.name, &stdout, text)
	case code == app.ExitOK && timeless(stdout.String()) != timeless(h.want):
		t.Errorf("%s: taken, with another result\n%s\nwant\n%s%s", h.name, &stdout, h.want, text)
	case code == app.ExitOK && h.made != "" && !bytes.Equal(read(t, h.made), h.content):
		t.Errorf("%s: taken, with another file\n%s", h.name, text)
	case code != app.ExitOK && (!strings.Contains(text, "uma-gpu: ") || !strings.Contains(text,
		h.file)):
		t.Errorf("%s: exit code %d\n%swant %q in it", h.name, code, text, h.file)
	case code != app.ExitOK && code != app.ExitFailure && code != app.ExitMemory &&
		code != app.ExitUsage:
		t.Errorf("%s: exit code %d\n%s", h.name, code, text)
	case strings.Contains(text, "runtime error") || strings.Contains(text, "goroutine "):
		t.Errorf("%s: a trace in the message\n%s", h.name, text)
	case strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	}):
		t.Errorf("%s: control characters in %q", h.name, text)
	}
	if h.made != "" && code == app.ExitOK {
		if err := os.Remove(h.made); err != nil {
			t.Fatal(err)
		}
	}
	if after := names(t, h.dir); !slices.Equal(after, before) {
		t.Errorf("%s: left %q, before it there were %q", h.name, after, before)
	}
}

// timeless is what a command printed, but for how long it took.
func timeless(text string) string {
	return regexp.MustCompile(`(?m)^seconds .*\n`).ReplaceAllString(text, "")
}

// damage makes a whole file bad.
type damage struct {
	name string
	do   func(raw []byte) []byte
}

// cuts are files that end too early.
func cuts(parts ...float64) (list []damage) {
	for _, p := range parts {
		list = append(list, damage{fmt.Sprintf("cut at %v", p), func(raw []byte) []byte {
			return raw[:min(int(p*float64(len(raw))), len(raw)-1)]
		}})
	}
	return list
}

// flips are n single bits that are not as they were written, anywhere in a file.
func flips(rng *rand.Rand, n int) (list []damage) {
	for range n {
		at, bit := rng.Float64(), byte(1)<<rng.IntN(8)
		list = append(list, damage{fmt.Sprintf("bit %d flipped at %.4f", bit, at),
			func(raw []byte) []byte {
				raw = bytes.Clone(raw)
				raw[int(at*float64(len(raw)))] ^= bit
				return raw
			}})
	}
	return list
}

// blots are n pieces of other bytes.
func blots(rng *rand.Rand, n int) (list []damage) {
	for range n {
		at, with := rng.Float64(), byte(rng.IntN(256))
		list = append(list, damage{fmt.Sprintf("16 bytes %#x at %.4f", with, at),
			func(raw []byte) []byte {
				raw = bytes.Clone(raw)
				from := int(at * float64(len(raw)))
				for k := from; k < min(from+16, len(raw)); k++ {
					raw[k] = with
				}
				return raw
			}})
	}
	return list
}

// swap is a piece of a file that becomes another.
func swap(old, new string) damage {
	return damage{fmt.Sprintf("%.20q for %.20q", new, old), func(raw []byte) []byte {
		if !bytes.Contains(raw, []byte(old)) {
			panic("no " + old)
		}
		return bytes.Replace(raw, []byte(old), []byte(new), 1)
	}}
}

// at sets bytes at a place.
func at(place int, with ...byte) damage {
	return damage{fmt.Sprintf("% x at byte %d", with, place), func(raw []byte) []byte {
		raw = bytes.Clone(raw)
		copy(raw[place:], with)
		return raw
	}}
}

func more(text string) damage {
	return damage{fmt.Sprintf("%q behind it", text),
		func(raw []byte) []byte { return append(bytes.Clone(raw), text...) }}
}

// utf16 is a text in another encoding.
func utf16(order binary.AppendByteOrder, mark bool) damage {
	return damage{fmt.Sprintf("UTF-16, %v, marked %v", order, mark), func(raw []byte) []byte {
		var out []byte
		if mark {
			out = order.AppendUint16(out, 0xfeff)
		}
		for _, r := range string(raw) {
			out = order.AppendUint16(out, uint16(r))
		}
		return out
	}}
}

var nothing = damage{"empty", func([]byte) []byte { return nil }}

// junk is no format at all.
var junk = damage{"junk", func([]byte) []byte {
	rng, raw := rand.New(rand.NewPCG(1, 2)), make([]byte, 3000)
	for k := range raw {
		raw[k] = byte(rng.Uint32())
	}
	return raw
}}

// always are damages that no format takes.
func always() []damage {
	return append(cuts(0.1, 0.5, 0.9), nothing, junk,
		damage{"zeros", func(raw []byte) []byte { return make([]byte, len(raw)) }},
		damage{"a picture", func([]byte) []byte { return []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR") }},
		damage{"a page", func([]byte) []byte {
			return []byte("<!DOCTYPE html>\n<html><head><title>404</title></head>\n")
		}}, damage{"a program", func([]byte) []byte {
			return append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 100)...)
		}})
}

// inText are damages of every table of words and numbers.
func inText(number, separator string) []damage {
	return []damage{
		swap(number, "x"+number), swap(number, number+"x"), swap(number, "nan"), swap(number, "-inf"),
		swap(number, "1e39"),
		swap(number, "1e999"), swap(number, "0x1p3"), swap(number, "\x00"), swap(number, "\xff\xfe"),
		swap(number, "1_000"),
		swap(number, "２"), swap(number, "--1"), swap(number, "1e"), swap(number, "\x1b[31m1\x1b[0m"),
		swap(number, "\u202e1"),
		swap(number, strings.Repeat("9", 400)), swap(number, "1"+separator+"2"),
		utf16(binary.LittleEndian, true),
		utf16(binary.BigEndian, true), utf16(binary.LittleEndian, false), utf16(binary.BigEndian, false),
		{"line ends of old", func(raw []byte) []byte {
			return bytes.ReplaceAll(raw, []byte("\n"), []byte("\r"))
		}},
		{"a long line", func(raw []byte) []byte {
			return append(bytes.Clone(raw), bytes.Repeat([]byte("7"), 1<<20)...)
		}},
	}
}
