package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/serve"
)

func serveCommand() *cli.Command {
	flags := []cli.Flag{app.ModelFlag(),
		&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8080",
			Usage: "`ADDRESS` to listen at; port 0 is one that is free"},
		&cli.StringFlag{Name: "max-body", Value: "16M", Usage: "`SIZE` of the largest request"},
		&cli.IntFlag{Name: "max-rows", Value: 20000,
			Usage: "most examples, `N`, of a request, and predicted together"},
		&cli.DurationFlag{Name: "time-limit", Value: 30e9,
			Usage: "`TIME` to read a request, and again to answer it"},
		&cli.IntFlag{Name: "concurrency", Value: 64,
			Usage: "answer `N` requests at a time; more get 503"},
		&cli.DurationFlag{Name: "drain", Value: 1e9,
			Usage: "`TIME` to go on with new requests after the signal to end"},
	}
	return &cli.Command{
		Name:  "serve",
		Usage: "answer predictions of a model over HTTP",
		Description: "POST /v1/predict takes JSON, {\"columns\": [\"u\", \"v\"], \"rows\": [[5.1, " +
			"3.5], …]}, CSV, or an\n" +
			"array of NumPy, and answers labels and probabilities, or probabilities as an array to who " +
			"accepts\n" +
			"application/x-npy, to the bits of predict. Also there: GET /v1/model, /health, /metrics for\n" +
			"Prometheus, and /openapi.json, which describes them all. Nothing is written, and\n" +
			"nobody is asked who they are: an address that other machines reach wants a proxy before it.\n" +
			"SIGTERM and Ctrl-C end it behind the requests under way; until then /health is 503.\n\n" +
			"Example: uma-gpu serve --model m.npz --listen 127.0.0.1:8080",
		Flags:  append(append(flags, device.Flags()...), app.QuietFlag()),
		Action: serveModel,
	}
}

// servedRows is how many rows of a batch the choice of a device reckons with.
const servedRows = 1000

func serveModel(c *cli.Context) (err error) {
	if err := app.CheckUsage(c, "model", "listen"); err != nil {
		return err
	}
	o := serve.Options{MaxRows: c.Int("max-rows"), Concurrency: c.Int("concurrency"),
		Timeout: c.Duration("time-limit"), Drain: c.Duration("drain")}
	if o.MaxBody, err = app.ParseBytes(c.String("max-body")); err != nil || o.MaxBody < 1 {
		return app.Usagef(c, "--max-body is %q, wanted a size above 0, such as 16M", c.String("max-body"))
	}
	for _, name := range []string{"max-rows", "concurrency"} {
		if c.Int(name) < 1 {
			return app.Usagef(c, "--%s is %d, wanted at least 1", name, c.Int(name))
		}
	}
	for _, name := range []string{"time-limit", "drain"} {
		if c.Duration(name) <= 0 {
			return app.Usagef(c, "--%s is %v, wanted a time above 0, such as 10s", name, c.Duration(name))
		}
	}
	where, err := device.Choose(c)
	if err != nil {
		return err
	}
	m, err := model.Load(c.String("model"))
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(c.Context, "tcp", c.String("listen"))
	if err != nil {
		return fmt.Errorf("--listen %s: %w: give another address, such as 127.0.0.1:0",
			c.String("listen"), err)
	}
	defer listener.Close() // closed already, unless the device cannot be opened
	n := app.NewNotes(c)
	e, err := where.Open(n, device.WorkOnComponents(servedRows, m.D, m.Q))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if a, ok := listener.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		n.Warn("%s is open to other machines, and whoever reaches it may ask", a)
	}
	if os.Getenv("GOGC") == "" {
		// the heap is small and a request much of it: half the time was spent collecting
		debug.SetGCPercent(400)
	}
	n.Say("serving %s at http://%s, POST /v1/predict; Ctrl-C ends it", c.String("model"),
		listener.Addr())
	if err := serve.New(m, e, o).Serve(c.Context, listener); err != nil {
		return err
	}
	n.Say("ended")
	return nil
}
