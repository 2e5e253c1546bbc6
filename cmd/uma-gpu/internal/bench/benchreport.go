package bench

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/timing"
)

// Report is what bench --json prints.
type Report struct {
	Device        engine.Device `json:"device"`
	Data          benchData     `json:"data"`
	BandwidthName string        `json:"bandwidth_name"` // read bandwidth or copy bandwidth
	Repeat        int           `json:"repeat"`
	Seconds       float64       `json:"seconds"` // that all of it took

	timing.Report // bandwidth_gb_per_s, example_bytes, operations and run
}

// benchData describes the examples as they were prepared.
type benchData struct {
	Source   string `json:"source"` // a file, or synthetic
	Examples int    `json:"examples"`
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
	Storage  string `json:"storage"`
}

func (r Report) text(w io.Writer) error {
	if err := app.Table(w, func(row app.Row) {
		row("device\t%s %s", r.Device.ID, r.Device.Name)
		row("data\t%s, %d examples × %d features, %d classes, %s, %s", r.Data.Source, r.Data.Examples,
			r.Data.Features, r.Data.Classes, r.Data.Storage, app.BytesText(r.ExampleBytes))
		row("%s\t%.1f GB/s", r.BandwidthName, r.Bandwidth)
		row("run\t%d steps (%s), estimated error %.4f", r.Run.Steps, r.Run.Stop, r.Run.EstimatedError)
		row("bytes read\t%s of all examples' in each step", share(r.Run.BytesReadShare))
		row("rescored\t%s of all examples in each step", share(r.Run.RescoredShare))
	}); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nmedian of %d, least and most\n", r.Repeat)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%-26s\tms\tleast\tmost\tGB/s\tof bandwidth\tlaunches\ttransfers\tmoved\t\n",
		"operation")
	line := func(o timing.Operation, name string) {
		moved := "-"
		if o.Moved != nil {
			moved = fmt.Sprint(*o.Moved)
		}
		fmt.Fprintf(t, "%-26s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n",
			name, milliseconds(o.Seconds), milliseconds(o.Least), milliseconds(o.Most),
			optional(o.GBPerSecond, "%.1f"), share(o.BandwidthShare),
			optional(o.Launches, "%.4g"), optional(o.Transfers, "%.4g"), moved)
	}
	for _, o := range r.Operations {
		line(o, o.Name)
	}
	line(r.Run.Step, r.Run.Step.Name)
	for _, o := range r.Run.Phases {
		line(o, "  in it: "+o.Name)
	}
	line(r.Run.Whole, r.Run.Whole.Name)
	return t.Flush()
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.3f", 1e3*seconds) }

func optional(v *float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

func share(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100**v)
}
