package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"bagtrail/internal/config"
	"bagtrail/internal/telemetry"
)

// step is one step in which a service or a tool gets what it works with.
type step func(*service, context.Context) error

// tool runs work with the parts of a service that steps make ready, and stops them afterwards.
func (p *process) tool(ctx context.Context, conf *config.Config, work func(context.Context, *service) error, steps ...step) (err error) {
	log, err := p.logger(conf)
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s := newService(conf, nil, log, fail)
	defer func() { err = errors.Join(err, failed(s.cleanup.run())) }()
	for _, step := range steps {
		if err := step(s, ctx); err != nil {
			return err
		}
	}
	return work(ctx, s)
}

// streamingHeap is what Go may take of memory, in bytes, while files are read as streams.
const streamingHeap = 32 << 20

// progress shows how far a tool has come, on a terminal and nowhere else.
type progress struct {
	w       io.Writer
	changed time.Time
	visible bool
}

// newProgress returns a progress on w, which shows nothing if nobody looks.
func newProgress(w io.Writer) progress {
	if !telemetry.IsTerminal(w) {
		w = nil
	}
	return progress{w: w}
}

// progressPause is how long a person needs to read a line.
const progressPause = 200 * time.Millisecond

// show replaces the line that was shown last.
func (p *progress) show(now time.Time, format string, args ...any) {
	if p.w == nil || now.Sub(p.changed) < progressPause {
		return
	}
	p.changed, p.visible = now, true
	fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
}

// clear takes the line away, so that something else can be printed.
func (p *progress) clear() {
	if p.visible {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.visible = false
	}
}
