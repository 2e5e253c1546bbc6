package inspect

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// print prints the report for people.
func (r Inspection) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	p := r.Provenance
	line("model", "%s", r.Model)
	line("classes", "%d", len(r.Classes))
	line("features", "%d, prepared by %s", r.Features, p.Preparation)
	if k := r.Kernel; k != nil {
		cosine := ""
		if k.Cosine {
			cosine = " of examples of length 1"
		}
		line("kernel", "%s%s, %d components of %d landmarks, %.4g %% of the variance",
			k.Function.Kind, cosine, k.Components, k.Landmarks, 100*k.Explained)
	}
	line("learner", "%s, seed %d", p.Learner, p.Seed)
	line("parameters", "%s", p.Parameters)
	line("weights", "%s of %d steps (%s)", p.Weights, p.Steps, p.Stop)
	if p.From != "" {
		line("begun with", "the weights of SHA-256 %s", p.From)
	}
	if r.EstimatedError != nil {
		line("estimated error", "%.4f", *r.EstimatedError)
	}
	if r.Temperature != nil {
		line("temperature", "%.4g", *r.Temperature)
	} else {
		line("temperature", "none, so no probabilities; uma-gpu calibrate fits one")
	}
	line("data", "SHA-256 %s", cmp.Or(p.DataSHA256, "not known"))
	device := p.Device.Kind
	if p.Device.Name != "" {
		device += ", " + p.Device.Name
	}
	if !p.Device.Conforming {
		device += ", which failed the self-test"
	}
	line("device", "%s", device)
	line("made by", "uma-gpu %s, numerics contract %d", cmp.Or(p.Tool, "of unknown version"),
		p.Contract)
	if r.Given == nil && r.Learned == nil {
		line("noise", "none: the labels were taken to be right")
	}
	r.Given.print(t, "noise given")
	r.Learned.print(t, "noise learned")
	if r.Annotators > 0 {
		line("annotators", "%d", r.Annotators)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return r.printClasses(w)
}

// print adds lines of a confusion matrix, of none if it is nil.
func (s *noiseSummary) print(w io.Writer, name string) {
	if s == nil {
		return
	}
	condition := ""
	if s.Condition != 0 {
		condition = fmt.Sprintf(", condition number %.4g", s.Condition)
	}
	fmt.Fprintf(w, "%s\t%.1f %% of labels right in the mean of the classes%s\n", name, 100*s.Right,
		condition)
	for _, pair := range s.Largest {
		fmt.Fprintf(w, "\t%.1f %% of %s are labelled %s\n", 100*pair.P, app.Shorten(pair.True),
			app.Shorten(pair.Noisy))
	}
}

func (r Inspection) printClasses(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if r.Kernel != nil {
		fmt.Fprintf(t, "\nclass\t‖w‖\n")
		for _, c := range r.Classes {
			fmt.Fprintf(t, "%s\t%.4g\n", app.Shorten(c.Class), c.Norm)
		}
		return t.Flush()
	}
	fmt.Fprintf(t, "\nclass\t‖w‖\tconstant\tfeature\tweight, prepared\tweight, raw\n")
	for _, c := range r.Classes {
		fmt.Fprintf(t, "%s\t%.4g\t%.4g\t", app.Shorten(c.Class), c.Norm, *c.Constant)
		for k, f := range c.Top {
			if k > 0 {
				fmt.Fprint(t, "\t\t\t")
			}
			fmt.Fprintf(t, "%s\t%+.4g\t%+.4g\n", f.Feature, f.Prepared, f.Raw)
		}
		if len(c.Top) == 0 {
			fmt.Fprintln(t, "\t\t")
		}
	}
	return t.Flush()
}
