package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// ofOneCall are the flags of query that a session does not keep, beside those of devices.
var ofOneCall = strings.Fields("session answers out to write-labelled json quiet help")

// file names one of the session's folder.
func (q *questions) file(name string) string { return filepath.Join(q.Session, name) }

// open reads the session, if there is one, and gives each flag the value that it has there.
func (q *questions) open() error {
	q.session = &session{Rounds: []round{}, Predicted: []int32{}}
	if q.Session == "" {
		return nil
	}
	info, err := os.Stat(q.Session)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s: found a file, wanted a folder for the session; choose another name",
			q.Session)
	}
	kept, err := loadSession(q.file("session.json"))
	if errors.Is(err, fs.ErrNotExist) {
		if q.Answers != "" {
			return fmt.Errorf("%w: --answers goes on with a session; begin it without", err)
		}
	} else if err != nil {
		return err
	} else {
		q.session = kept
	}
	devices := app.FlagNames(new(device.Device).Flags())
	settings, err := q.Settings(append(devices, ofOneCall...)...)
	if err != nil {
		return err
	}
	if kept == nil {
		q.session.Settings = settings
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		then, given := kept.Settings[name]
		if given && then == settings[name] {
			continue
		}
		was := "was not given"
		if given {
			was = "was " + then
		}
		return app.Usage("--%s is %s, and %s when the session in %s began; leave it out, or begin "+
			"another session in another folder, with --labelled from --write-labelled", name,
			settings[name], was, q.Session)
	}
	for _, name := range slices.Sorted(maps.Keys(kept.Settings)) {
		if err := q.Set(name, kept.Settings[name]); err != nil {
			return fmt.Errorf("%s: found the flag --%s with %q, which this program does not know: %w",
				q.file("session.json"), name, kept.Settings[name], err)
		}
	}
	return nil
}

// read reads the pool and the labelled examples, which get one width and storage.
func (q *questions) read(ctx context.Context) error {
	pool, err := q.columnsOut(ctx, q.Data.Path)
	if err != nil {
		return err
	}
	if path := q.Labelled; path != "" {
		o, err := q.columnsOut(ctx, path)
		if err != nil {
			return err
		}
		if q.session.Classes = nil; q.Classes != "" {
			o.Classes = strings.Split(q.Classes, ",")
		}
		if q.labelled, err = app.ReadData(ctx, path, o, q.Notes); err != nil {
			return fmt.Errorf("%w (of --labelled; --classes names classes that it has no example of)", err)
		}
		if pool.Encoding = q.labelled.Encoding; pool.Encoding == nil {
			pool.Encode = nil
		}
		if pool.FeatureNames = q.labelled.Features; q.labelled.Format != "libsvm" {
			// A last column too many is that of labels, which do not count.
			pool.Features, pool.LabelColumn = q.labelled.FeatureCount(), cmp.Or(pool.LabelColumn, "last")
		}
	} else if q.Classes == "" {
		return app.Usage("--labelled is missing; to begin without any label, name the classes: " +
			"--classes a,b,c")
	}
	pool.NoLabels, pool.Labels = true, ""
	if q.rest, err = app.ReadData(ctx, q.Data.Path, pool, q.Notes); err != nil {
		return fmt.Errorf("%w (of --pool, wanted the features of --labelled; a label column that it has "+
			"is named by --label-column)", err)
	}
	return errors.Join(q.align(), q.nameExamples(ctx), q.checkSameData())
}

// columnsOut returns options that leave out the columns of a file that are for people.
func (q *questions) columnsOut(ctx context.Context, path string) (file.Options, error) {
	o := q.Options.Read
	o.Ignore = slices.Clone(o.Ignore)
	o.IDColumn = "" // only the pool has to have it
	for _, column := range [][2]string{{"id-column", q.Data.IDColumn}, {"show", q.Show}} {
		flag, name := column[0], column[1]
		if name == "" || slices.Contains(o.Ignore, name) || o.Encode != nil &&
			slices.Contains(o.Encode.Text.Columns, name) {
			continue // a text may be shown and learned from
		}
		if path == q.Data.Path && flag == "id-column" {
			o.IDColumn = name
			continue
		}
		has, err := file.HasColumn(ctx, path, name, o)
		if err != nil {
			return o, err
		}
		if has {
			o.Ignore = append(o.Ignore, name)
		} else if path == q.Data.Path {
			return o, fmt.Errorf("%s: found no header with a column %q, wanted one for --%s; the pool must "+
				"be a CSV", path, name, flag)
		}
	}
	return o, nil
}

// align gives both parts one width, where a LIBSVM file does not tell it, and one storage.
func (q *questions) align() error {
	for _, d := range []*dataset.Dataset{q.labelled, q.rest} {
		if d == nil {
			continue
		}
		if err := app.CheckRaw(d, "give the original data"); err != nil {
			return err
		}
	}
	if q.labelled == nil {
		return nil
	}
	widest, sparse := max(q.labelled.D, q.rest.D), q.rest.Sparse()
	for _, d := range []*dataset.Dataset{q.labelled, q.rest} {
		if d.D < widest {
			if d.Format != "libsvm" {
				return fmt.Errorf("%s: found %d features, wanted %d as in the other file; --ignore-columns "+
					"leaves out columns, and --label-column names the label's", d.Path, d.D, widest)
			}
			d.Examples = d.Compressed()
			d.D = widest
		}
		if sparse {
			d.Examples = d.Compressed()
		} else {
			d.Examples = d.Dense()
		}
	}
	return nil
}

// nameExamples finds ids and what to show.
func (q *questions) nameExamples(ctx context.Context) (err error) {
	n, pool := q.rest.N, q.Data.Path
	if len(q.rest.SkippedAt) > 0 && (q.Show != "" || q.ShowFile != "") {
		return fmt.Errorf("%s: found bad examples that were skipped, wanted none, since texts are by "+
			"place", pool)
	}
	if q.ids = q.rest.IDs; q.ids == nil {
		q.ids = make([]string, n)
		for i := range q.ids {
			q.ids[i] = strconv.Itoa(i + 1)
		}
	}
	q.place = make(map[string]int, n)
	for i, id := range q.ids {
		if k, twice := q.place[id]; twice {
			return fmt.Errorf("%s: found the id %q of example %d and of %d, wanted an id of its own for "+
				"each; without --id-column it is the number of the example", pool, id, k+1, i+1)
		}
		q.place[id] = i
	}
	if column := q.Show; column != "" {
		q.shown = column
		q.texts, err = file.ReadTexts(ctx, pool, column, n, q.Options.Read)
	} else if path := q.ShowFile; path != "" {
		q.shown = "text"
		q.texts, err = file.ReadTexts(ctx, path, "", n, q.Options.Read)
	}
	if q.shown == "id" || q.shown == "label" {
		q.shown += "_shown" // columns of the questions have names of their own
	}
	return err
}

// checkSameData makes the session one of these data, or refuses others than it began with.
func (q *questions) checkSameData() error {
	classes := []string(nil)
	if q.labelled != nil {
		classes = q.labelled.Classes
	} else {
		classes = strings.Split(q.Classes, ",")
	}
	for k, name := range classes {
		if classes[k] = strings.TrimSpace(name); classes[k] == "" || slices.Contains(classes[:k],
			classes[k]) {
			return app.Usage("--classes is %q, wanted different names", q.Classes)
		}
	}
	if len(classes) < 2 {
		return app.Usage("--classes is %q, wanted two classes or more", q.Classes)
	}
	s := q.session
	hash := func(d *dataset.Dataset, was string) (is string, same bool) {
		if d == nil {
			return "", was == ""
		}
		d.SHA256 = d.Hash() // as it is now
		return d.SHA256, d.Is(was)
	}
	pool, samePool := hash(q.rest, s.Pool)
	labelled, sameLabelled := hash(q.labelled, s.Labelled)
	samePool = samePool && s.Examples == q.rest.N
	if s.Pool != "" && !(samePool && sameLabelled) {
		which := q.Data.Path
		if samePool {
			which = q.Labelled
		}
		return fmt.Errorf("%s: found other examples than the session in %s began with, wanted the same; "+
			"begin another session in another folder", which, q.Session)
	}
	s.Pool, s.Labelled, s.Classes, s.Examples = pool, labelled, classes, q.rest.N
	return nil
}

// takeAnswers takes the answers of the expert into the session, and keeps it.
func (q *questions) takeAnswers(ctx context.Context) error {
	path := q.Answers
	if path == "" {
		return nil
	}
	asked := map[string]*int32{}
	for _, r := range q.session.Rounds {
		for k, i := range r.Asked {
			asked[q.ids[i]] = &r.Answers[k]
		}
	}
	answers, err := app.Awaited(ctx, path, func(path string) ([]answered, error) {
		return readAnswers(path, q.session.Classes, func(id string) string {
			switch _, known := q.place[id]; {
			case asked[id] != nil:
				return ""
			case known:
				return "nobody asked about it here; labels of other rows are for clean --checked, or for " +
					"a table of --labelled"
			}
			return "no example of the pool is named so"
		})
	})
	if err != nil {
		return err
	}
	fresh, aside := 0, 0
	for _, a := range answers {
		was := asked[a.id]
		switch {
		case *was == active.Unknown:
			fresh++
		case *was != a.label:
			q.Notes.Warn("%s:%d: the answer to id %q was another one; this one counts", path, a.line, a.id)
		}
		if *was = a.label; a.label == active.Aside {
			aside++
		}
	}
	said := ""
	if aside > 0 {
		said = fmt.Sprintf(", %d put aside", aside)
	}
	q.Notes.Say("answers: %d in %s, %d of them new%s; %d questions are open", len(answers), path,
		fresh, said, q.session.open())
	return q.session.save(q.file("session.json"))
}

// save writes what the folder has: the session last but for the questions, which follow from it.
func (q *questions) save() error {
	if q.Session == "" {
		return nil
	}
	if err := os.MkdirAll(q.Session, 0o777); err != nil {
		return err
	}
	if q.model != nil {
		if err := q.model.Save(q.file("model.npz")); err != nil {
			return err
		}
	}
	return q.session.save(q.file("session.json"))
}

// writeFiles writes the session's files for people. Questions that are there stay: their labels may
// be half filled in.
func (q *questions) writeFiles() error {
	if q.Session == "" {
		return nil
	}
	number := len(q.session.Rounds)
	kind := "csv"
	if q.To != kind {
		kind = "json"
	}
	path := q.file(fmt.Sprintf("round-%d.%s", number, kind))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && q.session.open() > 0 {
		if err := atomicfile.Write(path, q.writeQuestions); err != nil {
			return err
		}
		q.Notes.Say("questions: round %d, %d of them, in %s", number, q.session.open(), path)
	}
	return atomicfile.Write(q.file("labels.csv"), q.writeAnswers)
}
