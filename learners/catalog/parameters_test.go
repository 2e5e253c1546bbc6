package catalog_test

import (
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// TestJSON: model files keep the parameters in these bytes.
func TestJSON(t *testing.T) {
	for _, c := range []struct{ learner, set, want string }{
		{"softmax", "", `{"correction":"forward","l2":"search","class_weights":"equal","rounds":10,"folds":0,"iterations":200,"tolerance":0.01}`},
		{"softmax", "l2=1e-4", `{"correction":"forward","l2":"0.0001","class_weights":"equal","rounds":10,"folds":0,"iterations":200,"tolerance":0.01}`},
		{"softmax", "tolerance=0.00001", `{"correction":"forward","l2":"search","class_weights":"equal","rounds":10,"folds":0,"iterations":200,"tolerance":0.00001}`},
		{"uma", "", `{"step":"all","select":"error","alpha":0,"alpha_unit":"weights","tol":1e-9,"doubt":1}`},
		{"classmean", "", `{}`},
		{"kernelmean", "", `{"balanced":true,"atoms":0,"atom_choice":"uniform","atom_weights":"optimal","atom_error":0}`},
		{"kernelmean", "atoms=100", `{"balanced":true,"atoms":100,"atom_choice":"uniform","atom_weights":"optimal","atom_error":0}`},
		{"perceptron", "", `{"no_shuffle":false,"no_average":false,"correction":"none","class_weights":"equal","multiclass":"max"}`},
		{"perceptron", "no-shuffle=true", `{"no_shuffle":true,"no_average":false,"correction":"none","class_weights":"equal","multiclass":"max"}`},
		{"perceptron", "multiclass=ovr", `{"no_shuffle":false,"no_average":false,"correction":"none","class_weights":"equal","multiclass":"ovr"}`},
		{"ultraconservative", "", `{"no_shuffle":false,"no_average":false,"correction":"none","class_weights":"equal","step":"uniform"}`},
		{"mira", "", `{"no_shuffle":false,"no_average":false,"correction":"none","class_weights":"equal","margin":0.1}`},
		{"pa", "", `{"no_shuffle":false,"no_average":false,"correction":"none","multiclass":"max"}`},
		{"pa1", "", `{"no_shuffle":false,"no_average":false,"correction":"none","class_weights":"equal","multiclass":"max","aggressiveness":1}`},
		{"pa1", "class-weights=balanced", `{"no_shuffle":false,"no_average":false,"correction":"none","class_weights":"balanced","multiclass":"max","aggressiveness":1}`},
		{"pa2", "", `{"no_shuffle":false,"no_average":false,"correction":"none","class_weights":"equal","multiclass":"max","aggressiveness":1}`},
		{"copa", "", `{"no_shuffle":false,"no_average":false,"correction":"none","aggressiveness":1}`},
		{"bylander", "", `{}`},
		{"blum", "", `{"margin":0}`},
	} {
		d, err := catalog.Find(c.learner)
		if err != nil {
			t.Fatal(err)
		}
		p := d.New()
		if name, value, ok := strings.Cut(c.set, "="); ok {
			each, ok := learners.Lookup(p, strings.ReplaceAll(name, "-", "_"))
			if !ok {
				t.Fatalf("%s has no parameter %s", c.learner, name)
			}
			if err := each.Set(value); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := learners.Marshal(p); err != nil || string(text) != c.want {
			t.Errorf("%s %s: got %s, %v, want %s", c.learner, c.set, text, err, c.want)
		}
		back, err := d.Parse([]byte(c.want))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := learners.Marshal(back); err != nil || string(text) != c.want {
			t.Errorf("%s comes back as %s, %v", c.want, text, err)
		}
	}
}
