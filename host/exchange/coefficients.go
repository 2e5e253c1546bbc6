package exchange

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// coefficients are the JSON of a linear classifier, by the names of scikit-learn's attributes.
type coefficients struct {
	Coef      [][]float64 `json:"coef_"`
	Intercept numbers     `json:"intercept_"`
	Classes   []any       `json:"classes_"`
	Features  []string    `json:"feature_names_in_"`
}

// numbers are a list of numbers, or one: LinearSVC(fit_intercept=False) has 0.0.
type numbers []float64

func (n *numbers) UnmarshalJSON(text []byte) error {
	var one float64
	if json.Unmarshal(text, &one) == nil {
		*n = numbers{one}
		return nil
	}
	return json.Unmarshal(text, (*[]float64)(n))
}

// ReadCoefficients reads a model from JSON with the coefficients of a linear classifier, named as
// in scikit-learn: coef_ (Q×d, or 1×d for two classes, where a positive score means the second),
// intercept_ (Q or 1 numbers; 0 if absent), classes_ (Q numbers or texts) and feature_names_in_ (d
// texts, optional). Numbers are rounded to float32. temperature is the model's (Meta.Temperature):
// 1 gives the probabilities of multinomial logistic regression; 0 means none. tool is
// Meta.ToolVersion.
func ReadCoefficients(r io.Reader, temperature float32, tool string) (*model.Model, error) {
	var c coefficients
	read := json.NewDecoder(r)
	read.DisallowUnknownFields()
	read.UseNumber()
	if err := read.Decode(&c); err != nil {
		return nil, fmt.Errorf("found no coefficients, wanted JSON with coef_, classes_ and optionally "+
			"intercept_ and feature_names_in_: %w", err)
	}
	classes := make([]string, len(c.Classes))
	for k, name := range c.Classes {
		var err error
		if classes[k], err = className(name); err != nil {
			return nil, err
		}
	}
	rows, q := len(c.Coef), len(classes)
	if q < 2 || rows != q && !(rows == 1 && q == 2) || len(c.Coef[0]) == 0 {
		return nil, fmt.Errorf("coef_: found %d rows for %d classes_, wanted one for each class, or one "+
			"of two classes", rows, q)
	}
	switch len(c.Intercept) {
	case rows:
	case 0:
		c.Intercept = make(numbers, rows)
	case 1:
		for range rows - 1 {
			c.Intercept = append(c.Intercept, c.Intercept[0])
		}
	default:
		return nil, fmt.Errorf("intercept_: found %d numbers, wanted %d, one for each row of coef_",
			len(c.Intercept), rows)
	}
	d := len(c.Coef[0])
	m := &model.Model{Q: q, D: d + 1, Meta: model.Meta{
		Provenance: model.Provenance{ToolVersion: tool, ContractVersion: contract.Version,
			Learner: "imported", Parameters: json.RawMessage("{}"), Weights: "last", Stop: "converged",
			Device: model.Device{Kind: "cpu", Conforming: true}},
		Classes: classes, Features: model.Features{Count: d, Names: c.Features},
		Preparation: dataset.Preparation{Steps: dataset.Steps{Bias: true}, D: d},
		Temperature: temperature,
	}}
	m.W = make([]float32, m.Q*m.D)
	for i, row := range c.Coef {
		if len(row) != d {
			return nil, fmt.Errorf("coef_: found %d numbers in row %d (from 0), wanted %d as in row 0",
				len(row), i, d)
		}
		w := m.W[(q-rows+i)*m.D:] // one row belongs to the second class; the first has 0
		for j, v := range append(row, c.Intercept[i]) {
			if w[j] = float32(v); math.IsInf(float64(w[j]), 0) {
				return nil, fmt.Errorf("coef_, intercept_: found %v in row %d, column %d (from 0), wanted a "+
					"finite float32", v, i, j)
			}
		}
	}
	return m, nil
}

// className returns the name of a class: a text, or a number as Go writes it, or a truth as pandas
// does.
func className(v any) (string, error) {
	switch v := v.(type) {
	case string:
		if utf8.ValidString(v) && dataset.ClassFault(v) == "" {
			return v, nil
		}
	case bool:
		return map[bool]string{false: "False", true: "True"}[v], nil
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			return v.String(), nil
		}
		number, err := v.Float64()
		return strconv.FormatFloat(number, 'g', -1, 64), err
	}
	return "", fmt.Errorf("classes_: found %.60q, wanted a number or a text without control "+
		"characters", fmt.Sprint(v))
}
