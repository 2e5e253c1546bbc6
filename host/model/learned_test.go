package model

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
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
		m.Meta.Annotators = []Annotator{{"bob", 3}, {"é", 70}}
		m.Learned.Matrices = append(append([]float64{}, m.Learned.Confusion...), m.Confusion...)
	}
	return m
}

func TestLearnedRoundTrip(t *testing.T) {
	for _, annotators := range []bool{false, true} {
		want := learnedSample(annotators)
		got, err := decode(encode(t, want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("annotators %v: %+v, %v, wanted %+v", annotators, got, err, want)
		}
	}
}

func TestLearnedRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*Learned)
		want   string
	}{
		{func(l *Learned) { l.Confusion = l.Confusion[1:] }, "8 entries 9 standard"},
		{func(l *Learned) { l.Error[3] = -1 }, "learned_error.npy -1 1 0"},
		{func(l *Learned) { l.Confusion[8] = 1.5 }, "learned.npy 1.5 2"},
		{func(l *Learned) { l.Matrices = l.Matrices[1:] },
			"annotators.npy 17 6×3 2"},
	} {
		m := learnedSample(true)
		c.change(m.Learned)
		var b bytes.Buffer
		if err := m.Write(&b); !facts.Told(err, c.want) || b.Len() > 0 {
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
}
