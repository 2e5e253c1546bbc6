package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// handshake is how long connections that clients have begun may take to arrive, when no others are taken.
const handshake = 100 * time.Millisecond

// Listen listens on a TCP address, host:port, in the way that loses no request when Serve ends: not by multipath TCP,
// Go's default, of which Linux takes connections until a listener is closed, and resets those that it has.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(ctx, "tcp", address)
}

// connections counts those of a server that are open.
type connections struct{ open sync.WaitGroup }

func (c *connections) changed(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		c.open.Done()
	}
}

// finish takes no connection any more and returns when all that there are have been answered, or limit is over.
// http.Server.Shutdown loses requests: it reads some without an answer, and the kernel resets the connections that it
// has taken for the listener. So the listener first drops the packets that begin a connection, which clients send
// again a second later and are refused then. Listeners that cannot, those of other systems than Linux and those that
// are not of Listen, may still reset a few.
func (c *connections) finish(h *http.Server, l net.Listener, served <-chan error, limit time.Duration) error {
	letNoneBegin(l)
	time.Sleep(handshake)
	err := l.Close()
	<-served // so all connections are counted
	gone := make(chan struct{})
	go func() { c.open.Wait(); close(gone) }()
	late := time.After(limit)
	for {
		h.SetKeepAlivesEnabled(false) // closes those that wait for another request
		select {
		case <-gone:
			return errors.Join(err, h.Close())
		case <-late:
			return errors.Join(err, errors.New("requests were not answered in time"), h.Close())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
