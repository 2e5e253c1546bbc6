package file

import (
	"context"
	"hash/maphash"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Recall keeps the values of dense .npy files that were read last, so that files of the same bytes
// are not decoded again. Read uses that of its context. It looks at the bytes of a file each time,
// and at no name or time.
type Recall struct {
	// Folders are those of the files: nobody writes to one while it is read.
	Folders []string

	mu    sync.Mutex
	seeds [2]maphash.Seed
	last  []*recalled // the one used last is the last one
}

// recalled are the values of a file, which nobody may change. It is a Home of examples.
type recalled struct {
	of           *Recall
	key          [3]uint64 // size and hashes of the file
	x            []float32
	n, d, stored int
	sums         []sum // of data with these values
}

// sum is the hash of data with these labels.
type sum struct {
	y       []int32 // nil without labels
	classes []string
	sha256  string
}

// Close leaves the values to the next Read.
func (*recalled) Close() error { return nil }

// ReadOnly is true.
func (*recalled) ReadOnly() bool { return true }

// NewRecall keeps nothing yet.
func NewRecall(folders []string) *Recall {
	return &Recall{Folders: folders, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

type recallKey struct{}

// With returns a context whose Read recalls.
func (r *Recall) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, recallKey{}, r)
}

// Forget drops all, and reports whether there was something.
func (r *Recall) Forget() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	had := r.last != nil
	r.last = nil
	return had
}

// What came last takes at most that share of the memory that is left, and recallMost values; all
// together, if there are more, recallAll.
const recallShare = 8

var recallMost, recallAll int64 = 1 << 28, 1 << 26

// put keeps the values of d, nil if they are too many. What was used long ago makes room.
func (r *Recall) put(key [3]uint64, d *dataset.Dataset) *recalled {
	k := &recalled{of: r, key: key, x: d.X[:len(d.X):len(d.X)], n: d.N, d: d.D,
		stored: countStored(d.X)}
	if int64(len(k.x)) > min(recallMost, memory.Available()/recallShare/4) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = append(r.last, k)
	all := int64(len(k.x))
	for at := len(r.last) - 2; at >= 0; at-- {
		if all += int64(len(r.last[at].x)); all > recallAll {
			r.last = slices.Delete(r.last, 0, at+1)
			break
		}
	}
	return k
}

// find returns what is kept of a file, nil if nothing is.
func (r *Recall) find(key [3]uint64) *recalled {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.last, func(k *recalled) bool { return k.key == key })
	if at < 0 {
		return nil
	}
	k := r.last[at]
	r.last = append(slices.Delete(r.last, at, at+1), k)
	return k
}

// keyOf reads the file of s; not ok means that r does not know it.
func (r *Recall) keyOf(s *source) (key [3]uint64, ok bool) {
	if r == nil || s.file == nil || !slices.Contains(r.Folders, filepath.Dir(s.path)) {
		return key, false
	}
	var hashes [2]maphash.Hash
	for i := range hashes {
		hashes[i].SetSeed(r.seeds[i])
	}
	part := make([]byte, 1<<18)
	for at := int64(0); at < s.size; {
		k, err := s.file.ReadAt(part[:min(int64(len(part)), s.size-at)], at)
		if err != nil && err != io.EOF || k == 0 || s.ctx.Err() != nil {
			return key, false // the reader says what is wrong
		}
		for i := range hashes {
			hashes[i].Write(part[:k]) // which never fails
		}
		at += int64(k)
	}
	return [3]uint64{uint64(s.size), hashes[0].Sum64(), hashes[1].Sum64()}, true
}

// enterRecalled enters the rows of a file without reading it.
func (b *builder) enterRecalled(k *recalled) error {
	if err := b.checkShape(k.n, k.d, false); err != nil {
		return err
	}
	b.src.text, b.width = b.src.size, k.d
	x, d, good := k.x, k.d, 0
	for i := range k.n {
		ok, err := b.admit(b.number())
		if err != nil {
			return err
		}
		if !ok && good == i { // the first row that is left out
			x = slices.Clone(x)
		}
		if ok {
			if good < i {
				copy(x[good*d:(good+1)*d], x[i*d:])
			}
			good++
		}
	}
	if good == 0 {
		return nil
	}
	b.stored = k.stored
	if good < k.n {
		b.stored = countStored(x[:good*d])
	}
	b.segments = []segment{{rows: good, width: d, x: x[: good*d : good*d]}}
	return nil
}

// recalling is entering, but for files that the context recalls.
func recalling(enter func(b *builder) error) func(*source, Options) (*dataset.Dataset, error) {
	return func(s *source, o Options) (*dataset.Dataset, error) {
		r, _ := s.ctx.Value(recallKey{}).(*Recall)
		key, ok := r.keyOf(s)
		if !ok || o.parts != nil || o.block != nil || o.Spill ||
			!o.NoLabels && o.given == nil {
			return entering(enter)(s, o)
		}
		k, all := r.find(key), false
		d, err := entering(func(b *builder) (err error) {
			if k != nil {
				err = b.enterRecalled(k)
			} else {
				err = enter(b)
			}
			all = b.n == b.seen && b.subnormals == 0
			return err
		})(s, o)
		if err != nil || !all || d.Sparse() || d.Home != nil || d.D == 1 {
			return d, err
		}
		if k == nil {
			k = r.put(key, d)
		}
		if k != nil {
			d.Home = k
		}
		return d, nil
	}
}

// mostSums is of how many labels of the same values the hash is known.
const mostSums = 4

// hash returns the SHA-256 of d, whose values are k's.
func (k *recalled) hash(ctx context.Context, d *dataset.Dataset) (string, error) {
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	for _, s := range k.sums {
		if (s.y == nil) == (d.Y == nil) && slices.Equal(s.y, d.Y) && slices.Equal(s.classes, d.Classes) {
			return s.sha256, nil
		}
	}
	found, err := d.Content().Hash(ctx)
	if err != nil {
		return "", err
	}
	k.sums = append(k.sums[max(0, len(k.sums)-mostSums+1):], sum{slices.Clone(d.Y), d.Classes, found})
	return found, nil
}
