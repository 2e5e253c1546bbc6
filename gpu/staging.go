//go:build cgo && !noopencl

package gpu

// staging is host memory by way of which small writes go: the device copies from it
// when it comes to them, and the host need not wait. A step makes a dozen of them.
type staging struct {
	room []byte // of newHost
	used int
}

const (
	stagingRoom = 1 << 20
	stagingMost = 1 << 16 // of one write
)

func newStaging() (staging, error) {
	room, err := newHost[byte](stagingRoom)
	return staging{room: room}, err
}

// take returns room for n bytes, which stays as the caller leaves it until reset; nil
// if there is none.
func (s *staging) take(n int) []byte {
	const align = 64
	if n > stagingMost || n > len(s.room)-s.used {
		return nil
	}
	room := s.room[s.used : s.used+n : s.used+n]
	s.used += (n + align - 1) / align * align
	return room
}

// reset makes the room free again, once the device has done all that was enqueued.
func (s *staging) reset() { s.used = 0 }

func (s *staging) free() {
	freeHost(s.room)
	*s = staging{}
}
