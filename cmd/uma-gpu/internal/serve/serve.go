// Package serve is the command that answers predictions of a model over HTTP.
package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/serve"
)

type Options struct {
	app.Common
	Model   app.Model
	Device  device.Device
	Listen  string // address
	MaxBody string // size
	Server  serve.Options
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	flags := []cli.Flag{o.Model.Flag(),
		app.Text(&o.Listen, "listen", "127.0.0.1:8080",
			"`ADDRESS` to listen at; port 0 is one that is free"),
		app.Text(&o.MaxBody, "max-body", "16M", "`SIZE` of the largest request"),
		app.Count(&o.Server.MaxRows, "max-rows", 20000, 1, math.MaxInt,
			"most examples, `N`, of a request, and predicted together"),
		&cli.DurationFlag{Name: "time-limit", Value: 30e9, Destination: &o.Server.Timeout,
			Usage: "`TIME` to read a request, and again to answer it"},
		app.Count(&o.Server.Concurrency, "concurrency", 64, 1, math.MaxInt,
			"answer `N` requests at a time; more get 503"),
		&cli.DurationFlag{Name: "drain", Value: 1e9, Destination: &o.Server.Drain,
			Usage: "`TIME` to go on with new requests after the signal to end"},
	}
	return &cli.Command{
		Name:  "serve",
		Usage: "answer predictions of a model over HTTP",
		Description: `POST /v1/predict takes JSON, {"columns": ["u", "v"], "rows": [[5.1, 3.5], …]}, CSV,
or an array of NumPy. It answers labels and probabilities, with the bits of predict; a client that
accepts application/x-npy gets probabilities as an array. Also there: GET /v1/model, /health,
/metrics for Prometheus, and /openapi.json, which describes them all. Nothing is written, and no
client is asked for a name: an address that other machines reach needs a proxy before it. SIGTERM
and Ctrl-C end it behind the requests under way; until then /health is 503.

Example: uma-gpu serve --model m.npz --listen 127.0.0.1:8080`,
		Flags:  app.Flags(flags, o.Device.Flags(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// servedRows is how many rows of a batch the choice of a device reckons with.
const servedRows = 1000

// Run answers requests until the context ends.
func Run(ctx context.Context, o *Options) (err error) {
	if o.Listen == "" {
		return app.Missing("listen")
	}
	server := &o.Server
	if server.MaxBody, err = app.ParseBytes(o.MaxBody); err != nil || server.MaxBody < 1 {
		return app.Usage("--max-body is %q, wanted a size above 0, such as 16M", o.MaxBody)
	}
	for _, limit := range []struct {
		flag string
		time time.Duration
	}{{"time-limit", server.Timeout}, {"drain", server.Drain}} {
		if limit.time <= 0 {
			return app.Usage("--%s is %v, wanted a time above 0, such as 10s", limit.flag, limit.time)
		}
	}
	m, err := model.Load(o.Model.Path)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w: give another address, such as 127.0.0.1:0",
			o.Listen, err)
	}
	defer listener.Close() // closed already, unless the device cannot be opened
	e, err := o.Device.Open(o.Notes, device.WorkOnComponents(servedRows, m.D, m.Q))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if a, ok := listener.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		o.Notes.Warn("%s is open to other machines; any client that reaches it may ask", a)
	}
	if os.Getenv("GOGC") == "" {
		// the heap is small and a request much of it: half the time was spent collecting
		debug.SetGCPercent(400)
	}
	o.Notes.Say("serving %s at http://%s, POST /v1/predict; Ctrl-C ends it", o.Model.Path,
		listener.Addr())
	if err := serve.New(m, e, *server).Serve(ctx, listener); err != nil {
		return err
	}
	o.Notes.Say("ended")
	return nil
}
