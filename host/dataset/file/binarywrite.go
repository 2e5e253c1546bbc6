package file

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// writeBinary writes header and slices of d; the hash goes first, so d is read twice.
func writeBinary(w *lineWriter, d *dataset.Dataset, o WriteOptions) error {
	if err := checkEndian(w.path); err != nil {
		return err
	}
	h, err := headerOf(w.ctx, d, o.Rows)
	if err != nil {
		return err
	}
	text, err := h.place()
	if err != nil {
		return err
	}
	p := placedWriter{w: w.w}
	if err := p.write([]byte(firstLine(binaryVersion, text))); err != nil {
		return err
	}
	if err := p.write(text); err != nil {
		return err
	}
	data := map[string][]byte{
		"x": store.Bytes(d.X), "starts": store.Bytes(d.Starts), "columns": store.Bytes(d.Columns),
		"values": store.Bytes(d.Values),
		"y":      store.Bytes(d.Y),
	}
	for _, n := range h.Sections.list() {
		if err := p.write(make([]byte, n.Offset-p.at)); err != nil { // of zeros, less than a page each
			return err
		}
		if n.name == "sums" {
			data[n.name] = p.sums.section()
		}
		if n.name == "x" && o.Rows != nil {
			err = d.Content().EachBlock(w.ctx, o.Rows, func(_ int, block []float32) error {
				return p.write(store.Bytes(block))
			})
		} else {
			err = p.write(data[n.name])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// headerOf describes d; where the sections lie is for place to say.
func headerOf(ctx context.Context, d *dataset.Dataset,
	rows func(dst []float32, first int) error) (*binaryHeader, error) {
	for _, name := range append(d.Features[:len(d.Features):len(d.Features)], d.Label) {
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("dataset: found the feature name %q, which is not UTF-8; convert the "+
				"data to UTF-8 (iconv -t UTF-8)", name)
		}
	}
	var content string
	var err error
	if rows != nil {
		content, err = d.Content().HashMade(ctx, rows)
	} else {
		content, err = d.Content().Hash(ctx)
	}
	if err != nil {
		return nil, err
	}
	h := &binaryHeader{
		Examples: d.N, Columns: d.D, Storage: "dense", Classes: d.Classes, Features: d.Features,
		Label:       d.Label,
		LabelColumn: d.LabelColumn, Encoding: d.Encoding,
		Preparation: d.Prepared, ContentSHA256: content, Subnormals: d.Subnormals,
		Notes: slices.Concat(d.Notes, d.Warnings),
	}
	// The labels may have been changed since d.SHA256 was found.
	if h.DataSHA256 = h.ContentSHA256; d.Prepared != nil {
		h.DataSHA256 = d.SHA256
	}
	if bad := len(d.SkippedAt); bad > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("%s: %d bad examples were skipped when it was converted",
			d.Path, bad))
	}
	if s := &h.Sections; d.Sparse() {
		h.Storage = "sparse"
		s.Starts = &binarySection{Bytes: 8 * int64(len(d.Starts))}
		s.Columns = &binarySection{Bytes: 4 * int64(len(d.Columns))}
		s.Values = &binarySection{Bytes: 4 * int64(len(d.Values))}
	} else {
		s.X = &binarySection{Bytes: 4 * int64(d.N) * int64(d.D)}
	}
	if d.Y != nil {
		h.Sections.Y = &binarySection{Bytes: 4 * int64(len(d.Y))}
	}
	h.Sections.Sums = &binarySection{Bytes: math.MaxInt64} // place knows
	return h, nil
}

// place says where the sections lie and returns the header's text, whose length the largest offsets
// bound.
func (h *binaryHeader) place() ([]byte, error) {
	for _, n := range h.Sections.list() {
		n.Offset = math.MaxInt64
	}
	text, err := h.encode()
	if err != nil {
		return nil, err
	}
	end := int64(binaryLine + len(text))
	for _, n := range h.Sections.list() {
		n.Offset = (end + binaryAlign - 1) / binaryAlign * binaryAlign
		if n.name == "sums" {
			n.Bytes = sumsBytes(n.Offset)
		}
		end = n.Offset + n.Bytes
	}
	return h.encode()
}

// encode returns the text of h, without HTML's escapes.
func (h *binaryHeader) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(h); err != nil {
		return nil, fmt.Errorf("dataset: cannot write the header: %w", err)
	}
	return b.Bytes(), nil
}

// placedWriter knows how far it is, and the sums of what it wrote.
type placedWriter struct {
	w    io.Writer
	at   int64
	sums blockSums
}

func (p *placedWriter) write(b []byte) error {
	n, err := p.w.Write(b)
	p.at += int64(n)
	p.sums.add(b[:n])
	return err
}
