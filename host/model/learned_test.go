package model

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// learnedSample is the sample model with what its training learned of the noise.
func learnedSample(annotators bool) *Model {
	m := sample()
	m.Meta.AnnotationsSHA256 = m.Meta.DataSHA256
	m.Learned = &Learned{Confusion: make([]float64, 9), Error: make([]float64, 9)}
	for k := range 9 {
		m.Learned.Confusion[k], m.Learned.Error[k] = float64(k)/16, float64(k)/128
	}
	if annotators {
		m.Learned.Annotators = []Annotator{{"bob", 3}, {"é", 70}}
		m.Learned.Matrices = append(append([]float64{}, m.Learned.Confusion...), m.Confusion...)
	}
	return m
}

func TestLearnedRoundTrip(t *testing.T) {
	for _, annotators := range []bool{false, true} {
		want := learnedSample(annotators)
		text := encode(t, want)
		got, err := decode(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("annotators %v: %+v, %v, wanted %+v", annotators, got, err, want)
		}
		for at := range text { // every flipped bit is noticed, or changes nothing
			text[at] ^= 4
			if back, err := decode(text); err == nil && !reflect.DeepEqual(back, want) {
				t.Fatalf("byte %d changed: another model is read", at)
			}
			text[at] ^= 4
		}
	}
}

func TestLearnedRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*Learned)
		want   string
	}{
		{func(l *Learned) { l.Confusion = l.Confusion[1:] }, "found 8 entries and 9 standard errors"},
		{func(l *Learned) { l.Error[3] = -1 }, "learned_error.npy: found -1 in row 1, column 0"},
		{func(l *Learned) { l.Confusion[8] = 1.5 }, "learned.npy: found 1.5 in row 2"},
		{func(l *Learned) { l.Matrices = l.Matrices[1:] },
			"annotators.npy: found 17 entries, wanted 6×3 for 2 annotators"},
		{func(l *Learned) { l.Annotators = nil }, "found 18 entries, wanted 0×3 for 0 annotators"},
		{func(l *Learned) { l.Annotators[1].Labels = 0 }, `found 0 labels of "é"`},
		{func(l *Learned) { l.Annotators[1].Name = "\xff" }, "not UTF-8"},
	} {
		m := learnedSample(true)
		c.change(m.Learned)
		var b bytes.Buffer
		if err := m.Write(&b); err == nil || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
			t.Errorf("wrote %d bytes, %v; want …%s…", b.Len(), err, c.want)
		}
	}
	members, err := learnedSample(true).members()
	if err != nil {
		t.Fatal(err)
	}
	for k, m := range members {
		without := append(append([]member(nil), members[:k]...), members[k+1:]...)
		if m.name == confusionName {
			continue // which a model need not have
		}
		if _, err := decode(archive(t, without...)); err == nil {
			t.Errorf("without %s: no error", m.name)
		}
	}
	older := string(must(learnedSample(true).Meta.encode()))
	older = strings.Replace(older, `"format_version": 4`, `"format_version": 3`, 1)
	if _, err := decodeMeta([]byte(older)); err == nil ||
		!strings.Contains(err.Error(), "wanted 4, which has annotators") {
		t.Errorf("annotators in version 3: %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
