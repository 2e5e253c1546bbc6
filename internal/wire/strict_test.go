package wire

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Duplicate names, null in place of a value, other spellings of a name and text behind the value
// are refused, wherever they are; what may lack may be null.
func TestStrict(t *testing.T) {
	type part struct {
		Rows  int      `json:"rows"`
		Names []string `json:"names"`
		Share *float64 `json:"share"`
	}
	type embedded struct {
		Seed uint64 `json:"seed"`
	}
	type request struct {
		embedded
		Part  part            `json:"part"`
		Parts []part          `json:"parts"`
		Any   map[string]part `json:"any"`
		Free  any             `json:"free"`
	}
	for text, want := range map[string]string{
		`{"seed": 3, "part": {"rows": 2, "names": null, "share": null}, "free": null}`: "",
		`{"parts": [{"rows": 1}, {"rows": 2}], "any": {"Rows": {"rows": 1}}}`:          "",
		`{"free": {"A": null, "a": [null]}}`:                                           "",
		`{"Seed": 3}`:                                                                  `"Seed"`,
		`{"part": {"Rows": 2}}`:                                                        `"part.Rows"`,
		`{"part": {"row": 2}}`:                                                         `"part.row"`,
		`{"seed": 3, "seed": 3}`:                                                       "seed twice",
		`{"parts": [{"rows": 1, "rows": 1}]}`:                                          "parts[0].rows twice",
		`{"free": {"a": 1, "a": 2}}`:                                                   "free.a twice",
		`{"part": {"rows": null}}`:                                                     "part.rows null",
		`{"part": null}`:                                                               "part null",
		`{"part": {"names": [null]}}`:                                                  "part.names[0] null",
		`{"any": {"a": {"rows": null}}}`:                                               "any.a.rows null",
		`{} {}`:                                                                        "behind",
		`{"part": {"rows": "2"}}`:                                                      "string",
		`{"part": {"rows": 1.5}}`:                                                      "1.5",
		`{"part": `:                                                                    "EOF",
	} {
		err := Strict([]byte(text), new(request))
		if want == "" && err != nil || want != "" && !facts.Told(err, want) {
			t.Errorf("%s: %v, wanted %q", text, err, want)
		}
	}
}
