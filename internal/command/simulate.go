package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"bagtrail/ingestor/httpdoor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/config"
	"bagtrail/internal/messagefile"
	"bagtrail/internal/simulate"
)

// simulation holds the flags of the simulate command.
type simulation struct {
	options     simulate.Options
	to          string // kafka, http, or the name of a file
	faults      string
	start       string
	rate        float64
	truth       string
	url         string
	key         secretFlag
	connections int
}

func (p *process) simulate() *cobra.Command {
	var sim simulation
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Send journeys of bags with realistic traffic and faults",
		Long: `simulate makes the messages of bags on a timetable of flights, from check-in to arrival, with ordinary mishaps.
It sends them to Kafka, over HTTP, or into a file. The same --seed, --start, --bags, --interval and --faults give the same
bytes.

Some messages are malformed on purpose (--faults). A service must reject them, so their rejection does not make the exit
code 1. Over HTTP it is 3 if the service rejects any other message, or accepts one of these.

Records for Kafka have the times of the journey. Without --start these lie in the past, since brokers refuse records from
the future. Such records do not count in GET /v1/feeds. Over HTTP the service sets the received times by its own clock.
The last line is JSON: what was sent, and the start.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var checks []config.Check
			if sim.to == "kafka" {
				checks = append(checks, config.SomeKafka)
			}
			eff, err := p.load(cmd, checks...)
			if err != nil {
				return err
			}
			if sim.options.Start, err = moment("--start", sim.start, sim.options.StartBefore(time.Now())); err != nil {
				return err
			}
			if sim.options.Faults, err = simulate.ParseFaults(sim.faults); err != nil {
				return &exit{Usage, fmt.Errorf("--faults: %w", err)}
			}
			if err := sim.validate(); err != nil {
				return &exit{Usage, err}
			}
			return p.runSimulation(cmd.Context(), eff.Config, &sim)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&sim.to, "to", "kafka", "kafka, http, or the name of a `file` (- is the standard output)")
	flags.Uint64Var(&sim.options.Seed, "seed", 1, "`number` on which everything random depends")
	flags.StringVar(&sim.start, "start", "", "`time` of the first check-in (RFC 3339, or a day in UTC); by default so long ago that the last journey is over")
	flags.IntVar(&sim.options.Bags, "bags", 1000, "how many bags are checked in")
	flags.DurationVar(&sim.options.Interval, "interval", time.Second, "time from one check-in to the next; 0 is one second")
	flags.StringVar(&sim.faults, "faults", "", "`list` of mishaps in percent: \"none\", \"all=5\", \"none,rush=5,late=1\"; by default those of an ordinary day")
	flags.Float64Var(&sim.rate, "rate", 0, "messages a second; 0 is as fast as possible")
	flags.StringVar(&sim.truth, "truth", "", "`file` for the expected answers about every bag, one line of JSON each")
	flags.StringVar(&sim.url, "url", "", "`URL` of the service to post to; by default one on this machine with the same settings")
	sim.key = apikey.DevelopmentKey
	flags.Var(&sim.key, "key", "API `key` to post with, or @ and the name of a file that holds it")
	flags.IntVar(&sim.connections, "connections", 8, "number of posts at the same time")
	return cmd
}

// validate returns an error that joins all faults of the numbers.
func (sim *simulation) validate() error {
	err := sim.options.Validate()
	if !(sim.rate >= 0) || math.IsInf(sim.rate, 0) { // so NaN is refused, too
		err = errors.Join(err, fmt.Errorf("--rate: %v messages a second: want 0 or more", sim.rate))
	}
	if sim.connections < 1 {
		err = errors.Join(err, fmt.Errorf("--connections: %d: want at least 1", sim.connections))
	}
	return err
}

// runSimulation opens the target, and sends the messages to it.
func (p *process) runSimulation(ctx context.Context, conf *config.Config, sim *simulation) error {
	switch sim.to {
	case "kafka":
		return p.tool(ctx, conf, func(ctx context.Context, s *service) error {
			return p.send(ctx, sim, simulate.ToLog(s.kafka), p.stdout)
		}, (*service).openKafka, (*service).waitForServers)
	case "http":
		service, err := serviceURL(sim.url, conf)
		if err != nil {
			return err
		}
		poster := simulate.Poster{
			Client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: sim.connections}},
			URL:    service + httpdoor.Door{}.Operation().Template, Key: sim.key.String(), Connections: sim.connections,
		}
		return p.send(ctx, sim, poster.Send, p.stdout)
	case messagefile.Stdin:
		return p.capture(ctx, sim, p.stdout, p.stderr)
	}
	file, err := os.Create(sim.to)
	if err != nil {
		return err
	}
	return errors.Join(p.capture(ctx, sim, file, p.stdout), file.Close())
}

// capture writes the messages to w, and the summary to summary.
func (p *process) capture(ctx context.Context, sim *simulation, w, summary io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	return errors.Join(p.send(ctx, sim, simulate.ToCapture(out), summary), out.Flush())
}

// send sends the messages to a sink, and writes the summary.
func (p *process) send(ctx context.Context, sim *simulation, sink simulate.Sink, summary io.Writer) error {
	shown := newProgress(p.stderr)
	with := simulate.Delivery{Sink: sink, Rate: sim.rate, Progress: func(s simulate.Summary) {
		shown.show(time.Now(), "%d messages, %.0f %%", s.Messages, min(100, 100*float64(s.Bags)/float64(max(1, sim.options.Bags)))) // rush bags count too
	}}
	finish := func() error { return nil }
	if sim.truth != "" {
		file, err := os.Create(sim.truth)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(file)
		with.Truth = simulate.Lines(out)
		finish = func() error { return errors.Join(out.Flush(), file.Close()) }
	}
	sent, err := simulate.Run(ctx, sim.options, with)
	shown.clear()
	return errors.Join(err, finish(), json.NewEncoder(summary).Encode(sent))
}
