package changefeed

import (
	"context"
	"errors"
	"slices"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/strictjson"
)

// The events of a stream.
const (
	EventChange    = "change"    // with the document of a change
	EventReset     = "reset"     // with the reason why the cursor cannot be followed, and a cursor from now on
	EventHeartbeat = "heartbeat" // with a cursor
)

// Listener is the other end of a stream.
type Listener interface {
	// Send sends an event, at the latest with the next Flush. id is the cursor behind it. An error
	// means that the listener has gone, or takes nothing.
	Send(event, id string, data []byte) error
	// Flush sends the events.
	Flush() error
	// Renew returns the key as it is now. It returns false if the stream is to end: the key is not
	// valid any more, or may not be told changes.
	Renew(ctx context.Context) (*apikey.Key, bool)
	// Ask returns a context for one read, and what ends it.
	Ask(ctx context.Context) (_ context.Context, end func())
}

// HeartbeatEvery is how often a stream tells its cursor, and looks at its key and at the index.
const HeartbeatEvery = 5 * time.Second

// batchOfStream bounds what is held in memory for a listener that lags.
var batchOfStream = Limits{Changes: 200, Bytes: 256 << 10}

// Stream tells a listener the changes that follow a cursor, as they happen, until ctx ends or the
// listener is to be told no more. beats is the pace of the heartbeats.
//
// It holds a cursor and no queue. What is published is told if it is above the cursor; whatever
// else there is, the index has.
func (f *Feed) Stream(ctx context.Context, a Asker, c changes.Cursor, to Listener, beats <-chan time.Time) {
	s := stream{Feed: f, asker: a, cursor: c, to: to, beats: beats}
	s.cursor.Sequences = slices.Clone(c.Sequences)
	s.follower = f.Follow(a)
	defer func() { s.follower.Leave() }()
	if s.heartbeat() != nil || s.catchUp(ctx) != nil {
		return
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.follower.Changed():
			published, missed := s.follower.Take()
			if missed || s.behind {
				err = s.catchUp(ctx)
			} else {
				err = s.tell(ctx, published)
			}
		case <-beats:
			if err = s.renew(ctx); err == nil {
				err = s.catchUp(ctx)
			}
			if err == nil {
				err = s.heartbeat()
			}
		}
		if err != nil {
			return
		}
	}
}

// stream is one stream.
type stream struct {
	*Feed
	asker    Asker
	cursor   changes.Cursor // behind what was sent
	behind   bool           // the last read has failed: the index has more
	to       Listener
	beats    <-chan time.Time
	follower *changes.Follower
}

// errEnded says that the listener is to be told no more.
var errEnded = errors.New("the key may not be told changes any more")

// renew looks at the key of the listener.
func (s *stream) renew(ctx context.Context) error {
	key, valid := s.to.Renew(ctx)
	if !valid {
		return errEnded
	}
	if key != s.asker.Key {
		s.asker.Key = key
		s.follower.Leave()
		s.follower = s.Follow(s.asker)
	}
	return nil
}

// catchUp sends what the index has behind the cursor. That may take long, so it looks at the key and
// sends heartbeats meanwhile. Its error is errEnded, or that of the listener; if the index cannot be
// read, that is tried again later.
func (s *stream) catchUp(ctx context.Context) error {
	s.follower.Take() // it is all in the index
	for ctx.Err() == nil {
		asked, end := s.to.Ask(ctx)
		b, err := s.Next(asked, s.asker, s.cursor, batchOfStream)
		end()
		var reset *changes.ResetError
		if errors.As(err, &reset) {
			return s.reset(ctx, reset.Reason)
		}
		if s.behind = err != nil; s.behind {
			return nil
		}
		for i := range b.Changes {
			if err := s.send(&b.Changes[i]); err != nil {
				return err
			}
		}
		s.cursor = b.Cursor
		if err := s.to.Flush(); err != nil || !b.More {
			return err
		}
		select {
		case <-s.beats:
			if err := s.renew(ctx); err != nil {
				return err
			}
			if err := s.heartbeat(); err != nil {
				return err
			}
		default:
		}
	}
	return nil
}

// tell sends what is above the cursor of published changes.
func (s *stream) tell(ctx context.Context, published []changes.Published) error {
	fresh := slices.DeleteFunc(published, func(p changes.Published) bool {
		return p.Epoch == s.cursor.Epoch && (p.Partition >= len(s.cursor.Sequences) || p.Sequence <= s.cursor.Sequences[p.Partition])
	})
	if slices.ContainsFunc(fresh, func(p changes.Published) bool { return p.Epoch != s.cursor.Epoch }) {
		return s.catchUp(ctx)
	}
	asked, end := s.to.Ask(ctx)
	told, err := s.Tell(asked, s.asker, fresh)
	end()
	if s.behind = err != nil; s.behind {
		return nil
	}
	for i := range told {
		if err := s.send(&told[i]); err != nil {
			return err
		}
	}
	for _, p := range fresh {
		s.cursor.Pass(p.Candidate)
	}
	return s.to.Flush()
}

// send sends a change, and moves the cursor behind it.
func (s *stream) send(c *Change) error {
	partition := kafka.PartitionOf([]byte(c.Plate), len(s.cursor.Sequences))
	s.cursor.Pass(changes.Candidate{Plate: c.Plate, Partition: partition, Sequence: c.Position.Sequence})
	return s.to.Send(EventChange, s.cursor.String(), c.Document)
}

// reset goes on from now.
func (s *stream) reset(ctx context.Context, reason string) error {
	asked, end := s.to.Ask(ctx)
	defer end()
	now, err := s.Now(asked, s.asker)
	if s.behind = err != nil; s.behind {
		return nil
	}
	s.cursor = now
	data := strictjson.AppendText([]byte{'{'}, "reason", reason)
	data = append(strictjson.AppendText(data, "cursor", now.String()), '}')
	if err := s.to.Send(EventReset, now.String(), data); err != nil {
		return err
	}
	return s.to.Flush()
}

// heartbeat sends the cursor.
func (s *stream) heartbeat() error {
	id := s.cursor.String()
	data := append(strictjson.AppendString([]byte(`{"cursor":`), id), '}')
	if err := s.to.Send(EventHeartbeat, id, data); err != nil {
		return err
	}
	return s.to.Flush()
}
