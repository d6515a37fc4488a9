package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"bagtrail/ingestor"
	"bagtrail/ingestor/filedoor"
	"bagtrail/ingestor/httpdoor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/collector"
	"bagtrail/internal/config"
	"bagtrail/internal/kafka"
	"bagtrail/internal/messagefile"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/strictjson"
)

func (p *process) replay() *cobra.Command {
	var (
		from, received string
		split, rejects bool
	)
	cmd := &cobra.Command{
		Use:   "replay [FILE|DIR|-]...",
		Short: "Take in the messages of files, or file those of the raw topic again",
		Long: `Without files, replay reads the raw topic from --from to its end, and files every message in the index. It may be
repeated, and run beside consumers, since filing again changes nothing. It commits no offsets and writes nothing to the
raw topic. While changes are on it marks, on the topic of marks, the bags whose messages the index did not hold.

With files, it takes messages in as the other doors do: accepted ones are appended to the raw topic and filed, rejected
ones go to the rejects topic. A FILE is one message. In a DIR it reads the files ending in .txt or .bim, in the order
of their names. "-" is the standard input. The messages count as received at --received, a millisecond apart, in their
order. None is received in the future: without --received, a replay takes in at most 1000 messages a second. With the
same files and the same --received, a repetition changes nothing; a replay that stops early says which --received it had.
If a file cannot be read, replay that file alone: the others are filed. The messages get no position in the log: they
come after others that were received in the same millisecond. With --kafka-brokers=off and a Redis in the process,
nothing is kept.

With --rejects, it judges again those messages of the rejects topic on which nobody has decided, and takes in those that
are accepted now. It reads the topic as far back as decisions are kept (BAGTRAIL_REJECT_RETENTION). A message that was
posted with an API key is accepted only if that key may post it now.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			var checks []config.Check
			switch {
			case rejects: // accepted messages go to the raw topic, from which any index reads them
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
			at, err := moment("--received", received, time.Now())
			if err != nil {
				return err
			}
			work := func(ctx context.Context, s *service) error { return p.replayTopic(ctx, s, start) }
			switch {
			case len(names) > 0 && (rejects || from != ""):
				return &exit{Usage, errors.New("--from and --rejects are for topics, not for files")}
			case len(names) == 0 && (split || received != ""):
				return &exit{Usage, errors.New("--split and --received are for files")}
			case rejects && from != "":
				return &exit{Usage, errors.New("--from is for the raw topic, not for the rejects")}
			case at.After(time.Now()):
				return &exit{Usage, errors.New("--received is in the future")}
			case len(names) > 0:
				reader := messagefile.Reader{Stdin: p.stdin, Split: split}
				work = func(ctx context.Context, s *service) error { return p.replayFiles(ctx, s, reader, names, at) }
			case rejects:
				work = p.replayRejects
			}
			return p.tool(cmd.Context(), eff.Config, work,
				(*service).openLibraries, (*service).openIndex, (*service).openKafka, (*service).openChanges, (*service).waitForServers)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&from, "from", "", "`start` in the raw topic: earliest (the default), a time (RFC 3339), a date, or offsets as 0:1200,1:1187")
	flags.BoolVar(&rejects, "rejects", false, "judge again the rejected messages on which nobody has decided")
	flags.BoolVar(&split, "split", false, "read each file as a capture of many messages, each ending with its end line")
	flags.StringVar(&received, "received", "", "received `time` of the first message of files (RFC 3339); by default now")
	return cmd
}

// checkOffsets returns an error if an offset of start is after the end of its partition of the raw
// topic, or if there is no such partition. Such an offset is a mistake: nothing would be filed from
// it.
func (s *service) checkOffsets(ctx context.Context, start kafka.Start) error {
	if start.Offsets == nil {
		return nil
	}
	topic := s.conf.Kafka.Topic
	spans, err := s.client.Bounds(ctx, topic)
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(start.Offsets)) {
		offset, at := start.Offsets[p], slices.IndexFunc(spans, func(s kafka.Span) bool { return s.Partition == p })
		switch {
		case at < 0:
			return &exit{Usage, fmt.Errorf("--from: %s has no partition %d", topic, p)}
		case offset > spans[at].To:
			return &exit{Usage, fmt.Errorf("--from: %d is after the end of %s/%d, which is %d", offset, topic, p, spans[at].To)}
		}
	}
	return nil
}

// replayTopic files the messages of the raw topic again.
func (p *process) replayTopic(ctx context.Context, s *service, start kafka.Start) error {
	if err := s.checkOffsets(ctx, start); err != nil {
		return err
	}
	holding, release := context.WithCancel(ctx)
	defer release()
	if err := s.store.HoldSweeps(holding); err != nil {
		return err
	}
	acceptor, err := s.replayer(ctx)
	if err != nil {
		return err
	}
	acceptor = s.restoreRejects(ctx, start, acceptor) // before the log, which says which of them were resubmitted
	shown := newProgress(p.stderr)
	done, err := s.kafka.Rebuild(ctx, acceptor, start, func(now kafkadoor.Progress) {
		shown.show(s.clock(), "%d of %d records, %.0f a second, %v left", now.Records, now.Total, now.Rate(), now.Left().Round(time.Second))
	})
	shown.clear()
	_, unprinted := fmt.Fprintf(p.stdout, "messages: %d, rejected: %d\n", done.Messages, done.Rejected)
	switch {
	case err != nil && len(done.Offsets) > 0:
		return fmt.Errorf("%w (to continue: --from %v)", err, done.Offsets)
	case err != nil:
		return err
	}
	return cmp.Or(s.restoreChanges(ctx, start), unprinted, rejectedAny(int(done.Rejected)))
}

// replayRejects judges again those messages of the rejects topic on which nobody has decided.
func (p *process) replayRejects(ctx context.Context, s *service) error {
	keys, err := s.readKeys()
	if err != nil {
		return err
	}
	acceptor := ingestor.NewAcceptor(ingestor.Config{Judge: s.judge, Log: s.record, Index: s.index})
	if s.redis.InProcess() { // Redis is empty, but the topics say which rejects were resubmitted
		if _, err := s.kafka.Rebuild(ctx, s.restoreRejects(ctx, kafka.Start{}, s.rebuilder()), kafka.Start{}, nil); err != nil {
			return err
		}
	}
	var t tally
	shown := newProgress(p.stderr)
	err = s.kafka.ReplayRejects(ctx, kafkadoor.RejectReplay{
		Acceptor: acceptor, From: s.firstReject(), Retention: s.conf.Rules.RejectsRetention, Settled: s.settledRejects, May: httpdoor.MayPost(keys, s.clock()),
		Decided: func(_ string, outcome ingestor.Outcome) {
			t.add(outcome.Verdict)
			shown.show(s.clock(), "%d messages, %d still rejected", t.messages(), t.rejected)
		},
	})
	shown.clear()
	_, unprinted := fmt.Fprintf(p.stdout, "%v, of these not authorised: %d\n", t, t.unauthorised)
	return cmp.Or(errors.Join(err, unprinted), rejectedAny(t.rejected))
}

// settledRejects returns the origins of the rejects that are not open, or are being resubmitted.
func (s *service) settledRejects(ctx context.Context, origins []string) (map[string]bool, error) {
	originOf := make(map[string]string, len(origins)) // by id
	for _, origin := range origins {
		originOf[rejectstore.ID(origin)] = origin
	}
	found, err := s.rejectStore.Get(ctx, false, slices.Collect(maps.Keys(originOf))...)
	settled := make(map[string]bool)
	for _, r := range found {
		if r.State != rejectstore.Open || r.Claim != "" {
			settled[originOf[r.ID]] = true
		}
	}
	return settled, err
}

// replayFiles takes in the messages of files.
func (p *process) replayFiles(ctx context.Context, s *service, reader messagefile.Reader, names []string, received time.Time) error {
	defer collector.Within(streamingHeap)()
	var t tally
	verdicts := verdictWriter{p.stdout, p.showsColour(p.stdout)}
	shown := newProgress(p.stderr)
	s.rejects = rejectPlaces{clearing{&shown}, s.rejects}
	err := filedoor.Door{
		AcceptBatch: s.acceptor(fileDoor).AcceptBatch, Received: received, Messages: reader.Messages(ctx, names),
		Decided: func(messages []messagefile.Message, outcomes []ingestor.Outcome) {
			for i, outcome := range outcomes {
				t.add(outcome.Verdict)
				if outcome.Verdict == ingestor.Rejected {
					verdicts.write(messages[i], outcome)
				}
			}
			shown.show(s.clock(), "%d messages", t.messages())
		},
	}.Run(ctx)
	shown.clear()
	if _, stopped := errors.AsType[*ingestor.StepError](err); stopped || err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w (to repeat: --received %s)", err, received.UTC().Format(strictjson.Millis))
	}
	_, unprinted := fmt.Fprintln(p.stdout, t)
	if err = errors.Join(err, unprinted); err != nil {
		return printableError(err)
	}
	return rejectedAny(t.rejected)
}

// clearing is an ingestor.Rejects that clears the progress line, before rejected messages are
// logged.
type clearing struct{ *progress }

// Reject implements ingestor.Rejects.
func (c clearing) Reject(context.Context, []ingestor.Rejection) error {
	c.clear()
	return nil
}

// tally counts messages by verdict. Known messages, which the index held before, count as accepted
// too, since a consumer may have filed them a moment ago. Unauthorised messages count as rejected
// too.
type tally struct{ accepted, known, rejected, unauthorised int }

func (t *tally) add(v ingestor.Verdict) {
	switch v {
	case ingestor.Accepted:
		t.accepted++
	case ingestor.Duplicate:
		t.accepted++
		t.known++
	case ingestor.Rejected:
		t.rejected++
	case ingestor.Unauthorised:
		t.rejected++
		t.unauthorised++
	}
}

func (t tally) messages() int { return t.accepted + t.rejected }

func (t tally) String() string {
	return fmt.Sprintf("messages: %d, accepted: %d, known before: %d, rejected: %d", t.messages(), t.accepted, t.known, t.rejected)
}

// rejectedAny returns an error with the exit code Rejected if any message was rejected.
func rejectedAny(rejected int) error {
	if rejected > 0 {
		return &exit{code: Rejected}
	}
	return nil
}
