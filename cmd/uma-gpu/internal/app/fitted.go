package app

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Model are the options of a model and of how examples are matched with it.
type Model struct {
	Path  string
	Match string // features by name or position
}

func (m *Model) Flag() cli.Flag {
	return Required(Input(&m.Path, "model", "model that train wrote: `FILE`.npz (required)"))
}

func (m *Model) MatchFlag() cli.Flag {
	return Choice(&m.Match, "match-features", "name",
		"match features with the model's by `KEY`: name or position", "name", "position")
}

// Read reads data for a model of features f. It selects and orders the columns by name, if there
// are names and --match-features is name.
func (m *Model) Read(ctx context.Context, d *Data, o file.Options, f model.Features,
) (*dataset.Dataset, error) {
	d.AsModel(&o, f)
	if m.Match == "name" && len(f.Names) > 0 {
		o.FeatureNames = f.Names
	}
	found, err := d.Read(ctx, o)
	if err == nil && o.FeatureNames == nil && found.Features != nil {
		d.common.Notes.Say("data: %s: features are matched by position, not by name",
			found.Path)
	}
	return found, err
}
