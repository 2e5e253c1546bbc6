package exchange

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// The arrays of a file of coefficients, by the names of scikit-learn's attributes.
const (
	coefName      = "coef_"
	interceptName = "intercept_"
	classesName   = "classes_"
	featuresName  = "feature_names_in_"
)

// Imported is the Meta.Learner of models that another program has learned.
const Imported = "imported"

// ReadCoefficients reads a model from an .npz file of size bytes with the coefficients of a linear
// classifier, named as in scikit-learn: coef_ (Q×d, or 1×d for two classes, where a positive score
// means the second), intercept_ (Q or 1 numbers; 0 if absent), classes_ (Q integers or texts) and
// feature_names_in_ (d texts, optional). Numbers are rounded to float32. temperature is the model's
// (Meta.Temperature): 1 gives the probabilities of multinomial logistic regression; 0 means none.
//
// Errors name the array with its shape and the wanted one. Meta has the version of tool.
func ReadCoefficients(r io.ReaderAt, size int64, temperature float32, tool string,
) (*model.Model, error) {
	a, err := openArrays(r, size)
	if err != nil {
		return nil, err
	}
	coef, shape, err := a.numbers(coefName)
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 || shape[0] < 1 || shape[1] < 1 {
		return nil, fmt.Errorf("array %s: found shape %v, wanted classes × features", coefName, shape)
	}
	rows, d := shape[0], shape[1]
	classes, err := a.texts(classesName)
	if err != nil {
		return nil, err
	}
	if q := len(classes); rows != q && !(rows == 1 && q == 2) {
		return nil, fmt.Errorf("array %s: found %d rows, wanted one for each of the %d classes of %s, "+
			"or one of two classes", coefName, rows, q, classesName)
	}
	intercept := make([]float64, rows)
	if a.has(interceptName) {
		found, _, err := a.numbers(interceptName)
		switch {
		case err != nil:
			return nil, err
		case len(found) == 1: // LinearSVC(fit_intercept=False) has 0.0
			for i := range intercept {
				intercept[i] = found[0]
			}
		case len(found) != rows:
			return nil, fmt.Errorf("array %s: found %d numbers, wanted %d, one for each row of %s",
				interceptName, len(found), rows, coefName)
		default:
			intercept = found
		}
	}
	var names []string
	if a.has(featuresName) {
		if names, err = a.texts(featuresName); err != nil {
			return nil, err
		}
	}
	if err := a.only(coefName, interceptName, classesName, featuresName); err != nil {
		return nil, err
	}
	m := &model.Model{Q: len(classes), D: d + 1, Meta: model.Meta{
		ToolVersion: tool, ContractVersion: contract.Version, Classes: classes,
		Features: model.Features{Count: d, Names: names},
		Training: model.Training{Learner: Imported, Parameters: json.RawMessage("{}"),
			Weights: "last"},
		Preparation: dataset.Preparation{Steps: dataset.Steps{Bias: true}, D: d},
		Outcome:     model.Outcome{Stop: "converged", Temperature: temperature},
		Device:      model.Device{Kind: "cpu", Conforming: true},
	}}
	m.W = make([]float32, m.Q*m.D)
	for i := range rows {
		row := m.W[(m.Q-rows+i)*m.D:] // one row belongs to the second class; the first has 0
		for j, v := range coef[i*d : (i+1)*d] {
			row[j] = float32(v)
		}
		row[d] = float32(intercept[i])
		for j, v := range row[:m.D] {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				name := coefName
				if j == d {
					name = interceptName
				}
				return nil, fmt.Errorf("array %s: found %v in row %d, column %d (from 0), wanted a finite "+
					"float32", name, v, i, j)
			}
		}
	}
	return m, nil
}
