package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"bagtrail/internal/collector"
	"bagtrail/internal/config"
	"bagtrail/internal/telemetry"
)

// step opens or starts one part of a service.
type step func(*service, context.Context) error

// tool does work with the parts of a service that steps open. It opens no door.
func (p *process) tool(ctx context.Context, conf *config.Config, do work, steps ...step) error {
	collector.Limit()
	return p.withService(ctx, conf, nil, p.logger(conf), func(ctx context.Context, s *service) error {
		for _, step := range steps {
			if err := step(s, ctx); err != nil {
				return err
			}
		}
		return do(ctx, s)
	})
}

// streamingHeap is Go's memory limit, in bytes, while files are read as streams.
const streamingHeap = 32 << 20

// progress shows on a terminal how far a tool has come.
type progress struct {
	w       io.Writer
	changed time.Time
	visible bool
}

// newProgress returns a progress on w. It shows nothing if w is not a terminal.
func newProgress(w io.Writer) progress {
	if !telemetry.IsTerminal(w) {
		w = nil
	}
	return progress{w: w}
}

// progressPause is the least time for which a line is shown.
const progressPause = 200 * time.Millisecond

// show replaces the line that was shown last.
func (p *progress) show(now time.Time, format string, args ...any) {
	if p.w == nil || now.Sub(p.changed) < progressPause {
		return
	}
	p.changed, p.visible = now, true
	fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
}

// clear removes the line, so that something else can be printed.
func (p *progress) clear() {
	if p.visible {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.visible = false
	}
}
