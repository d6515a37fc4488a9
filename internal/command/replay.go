package command

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/collector"
	"bagtrail/internal/config"
	"bagtrail/internal/kafka"
	"bagtrail/internal/messagefile"
)

func (p *process) replay() *cobra.Command {
	var (
		from, received string
		split, rejects bool
	)
	cmd := &cobra.Command{
		Use:   "replay [FILE|DIR|-]...",
		Short: "Feed files, or the raw topic anew, through the pipeline into the index",
		Long: `replay without files reads the raw topic from --from to its end, and files every message in the index. Filing again
changes nothing, so it may be repeated, and run beside consumers. It commits no offsets and writes no topic.

With files it takes messages in as a door does: what is accepted is appended to the raw topic and filed, what is not
goes to the rejects topic. A FILE is one message; of a DIR the files ending .txt or .bim are taken, in name order; "-" is the
standard input. The
messages count as received at --received, a millisecond apart, in their order. With the same files and the same --received
a repetition changes nothing.

What is taken in has no place in the log: it comes after messages that were received in the same millisecond.

With --rejects it judges the messages of the rejects topic again, and takes in what is accepted now. What was posted with an API key is
accepted only if that key may post it by the key file of now.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			var checks []config.Check
			switch {
			case rejects: // what is accepted goes to the raw topic, from where any index takes it
				checks = []config.Check{config.SomeKafka}
			case len(names) == 0:
				checks = []config.Check{config.SharedRedis, config.SomeKafka}
			}
			eff, err := p.load(cmd, checks...)
			if err != nil {
				return err
			}
			start, err := kafka.ParseStart(from)
			if err != nil {
				return &exit{Usage, fmt.Errorf("--from: %w", err)}
			}
			at, err := moment(received, time.Now())
			if err != nil {
				return &exit{Usage, fmt.Errorf("--received: %w", err)}
			}
			work := func(ctx context.Context, s *service) error { return p.replayTopic(ctx, s, start) }
			switch {
			case len(names) > 0 && (rejects || from != ""):
				return &exit{Usage, errors.New("--from and --rejects are for topics, not for files")}
			case len(names) > 0:
				reader := messagefile.Reader{Stdin: p.stdin, Split: split}
				work = func(ctx context.Context, s *service) error { return p.replayFiles(ctx, s, reader, names, at) }
			case rejects:
				work = p.replayRejects
			}
			return p.tool(cmd.Context(), eff.Config, work,
				(*service).readLibraries, (*service).openIndex, (*service).openKafka, (*service).waitForServers)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&from, "from", "", "`where` to begin in the raw topic: earliest (default), a time (RFC 3339), a date, or offsets as 0:1200,1:1187")
	flags.BoolVar(&rejects, "rejects", false, "judge the rejects topic again instead")
	flags.BoolVar(&split, "split", false, "a file is a capture of many messages, each ending at its end line")
	flags.StringVar(&received, "received", "", "`time` of receipt of the first message of files (RFC 3339); default now")
	return cmd
}

// replayTopic files the raw topic anew.
func (p *process) replayTopic(ctx context.Context, s *service, start kafka.Start) error {
	holding, release := context.WithCancel(ctx)
	defer release()
	if err := s.store.HoldSweeps(holding); err != nil {
		return failed(err)
	}
	shown := newProgress(p.stderr)
	done, err := s.kafka.Rebuild(ctx, s.pipeline, start, func(now kafkadoor.Progress) {
		shown.show(s.clock(), "%d of %d records, %.0f a second, %v left", now.Records, now.Total, now.Rate(), now.Left().Round(time.Second))
	})
	shown.clear()
	fmt.Fprintf(p.stdout, "messages: %d, rejected: %d\n", done.Messages, done.Rejected)
	switch {
	case err != nil && len(done.Offsets) > 0:
		return failed(fmt.Errorf("%w (go on with --from %v)", err, done.Offsets))
	case err != nil:
		return failed(err)
	}
	return rejectedAny(int(done.Rejected))
}

// replayRejects judges the rejects topic again.
func (p *process) replayRejects(ctx context.Context, s *service) error {
	keys, err := s.keysInForce()
	if err != nil {
		return err
	}
	var t tally
	var refused atomic.Int64
	judge := senders{s.pipeline, s.library, keys, s.clock(), func() { refused.Add(1) }}
	shown := newProgress(p.stderr)
	err = s.kafka.ReplayRejects(ctx, judge, func(r kafkadoor.Retried) {
		t.add(r.Outcome.Verdict)
		shown.show(s.clock(), "%d messages, %d still rejected", t.messages(), t.rejected)
	})
	shown.clear()
	fmt.Fprintf(p.stdout, "%v, of these not authorised: %d\n", t, refused.Load())
	if err != nil {
		return failed(err)
	}
	return rejectedAny(t.rejected)
}

// tally counts what became of messages. Known are those of the accepted that the index held before; a consumer that
// runs beside may have filed them a moment ago.
type tally struct{ accepted, known, rejected int }

func (t *tally) add(v ingestor.Verdict) {
	switch v {
	case ingestor.Accepted:
		t.accepted++
	case ingestor.Duplicate:
		t.accepted++
		t.known++
	case ingestor.Rejected:
		t.rejected++
	}
}

func (t tally) messages() int { return t.accepted + t.rejected }

func (t tally) String() string {
	return fmt.Sprintf("messages: %d, accepted: %d, known before: %d, rejected: %d", t.messages(), t.accepted, t.known, t.rejected)
}

// rejectedAny ends a command that is done with the exit code that says whether something was rejected.
func rejectedAny(rejected int) error {
	if rejected > 0 {
		return &exit{code: Rejected}
	}
	return nil
}

// How much of files goes through the log and the index together: so many messages, and so many bytes or one message more.
const (
	messagesAtOnce = 2000
	bytesAtOnce    = 1 << 20
)

// feeding takes messages of files in.
type feeding struct {
	*service
	*process
	tally
	progress
	received time.Time // of the next message
	batch    []messagefile.Message
	bytes    int // of the batch
}

// replayFiles takes in the messages of files.
func (p *process) replayFiles(ctx context.Context, s *service, reader messagefile.Reader, names []string, received time.Time) error {
	defer collector.Within(streamingHeap)()
	f := &feeding{service: s, process: p, progress: newProgress(p.stderr), received: received.UTC().Truncate(time.Millisecond)}
	defer f.clear()
	var faults []error
	for m, err := range reader.Messages(ctx, names) {
		if err != nil {
			faults = append(faults, printableError(err))
			continue
		}
		f.batch, f.bytes = append(f.batch, m), f.bytes+len(m.Text)
		if len(f.batch) < messagesAtOnce && f.bytes < bytesAtOnce {
			continue
		}
		if err := f.takeIn(ctx); err != nil {
			return failed(err)
		}
		f.show(s.clock(), "%d messages", f.tally.messages())
	}
	if err := f.takeIn(ctx); err != nil {
		return failed(err)
	}
	f.clear()
	fmt.Fprintln(p.stdout, f.tally)
	if err := errors.Join(faults...); err != nil {
		return failed(err)
	}
	return rejectedAny(f.rejected)
}

// takeIn decides on the messages that wait, as the HTTP door does on one: first the log, then the index; rejects to
// their topic. After an error it is not known which took effect, and repeating is safe.
func (f *feeding) takeIn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("stopped early, after %v: %w", f.tally, err)
	}
	var (
		outcomes   []ingestor.Outcome
		records    []ingestor.Record
		rejections []ingestor.Rejection
	)
	for _, m := range f.batch {
		env := ingestor.Envelope{Raw: m.Text, Received: f.received, Origin: fmt.Sprintf("file/%s/%d/%d", m.File, f.received.UnixMilli(), m.Number)}
		f.received = f.received.Add(time.Millisecond)
		outcome := f.pipeline.Judge(env)
		if outcome.Verdict == ingestor.Rejected {
			f.add(outcome.Verdict)
			rejections = append(rejections, ingestor.Rejection{Envelope: env, Errors: outcome.Errors})
			f.clear()
			writeVerdict(f.stdout, m, outcome)
			continue
		}
		record := outcome.Record()
		record.Replayed = true
		outcomes, records = append(outcomes, outcome), append(records, record)
	}
	clear(f.batch)
	f.batch, f.bytes = f.batch[:0], 0
	if f.kafka != nil && len(records) > 0 {
		if err := f.kafka.Append(ctx, records); err != nil {
			return err
		}
	}
	if err := f.pipeline.Settle(ctx, outcomes); err != nil {
		return err
	}
	for _, o := range outcomes {
		f.add(o.Verdict)
	}
	switch {
	case len(rejections) == 0:
		return nil
	case f.kafka == nil:
		return f.rejects.Reject(ctx, rejections)
	}
	return f.kafka.Reject(ctx, rejections)
}
