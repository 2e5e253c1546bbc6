package setting

import "testing"

func TestSpell(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Field("label-column", "first"), `Options.LabelColumn "first"`},
		{Field("ignore-columns", ""), "Options.Ignore"},
		{Flag("ignore-columns", "1"), "--ignore-columns 1"},
		{Flag("balanced", ""), "--balanced"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
