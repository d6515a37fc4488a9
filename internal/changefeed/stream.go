package changefeed

import (
	"context"
	"errors"
	"slices"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/changes"
	"bagtrail/internal/pause"
	"bagtrail/internal/strictjson"
)

// The events of a stream.
const (
	EventChange    = "change"    // has the document of a change
	EventReset     = "reset"     // has the reason why the cursor cannot be followed, and a new cursor
	EventHeartbeat = "heartbeat" // has a cursor
)

// Listener receives a stream.
type Listener interface {
	// Send sends an event, at the latest with the next Flush. id is the cursor after the event. An
	// error means that the listener has gone, or does not read.
	Send(event, id string, data []byte) error
	// Flush sends the events. If that fails, the context of the stream ends.
	Flush()
	// Renew returns the key as it is now. It returns false if the stream must end, because the key is
	// not valid any more, or may not read changes.
	Renew(ctx context.Context) (*apikey.Key, bool)
	// Ask returns a context for one read. The caller calls end after the read.
	Ask(ctx context.Context) (_ context.Context, end func())
	// Hold sets the number of bytes that are held for the listener. If there is no memory for them,
	// it sets 0 and returns false.
	Hold(bytes int) bool
}

const (
	// HeartbeatEvery is how often a stream sends its cursor, and checks its key and the index.
	HeartbeatEvery = 5 * time.Second
	// RenewEvery is how often a stream checks its key alone. A process knows within two seconds
	// that a key is revoked, and the stream must end within five.
	RenewEvery = HeartbeatEvery / 2
)

// batchOfStream bounds the memory for a listener that is behind.
var batchOfStream = Limits{Changes: 200, Bytes: 256 << 10}

// Stream sends a listener the changes that follow a cursor, as they happen, until ctx ends, the key
// may not read changes any more, or the listener fails. It sends a heartbeat whenever beats has an
// element, and checks the key whenever checks has one.
//
// A stream has a cursor and no queue. It sends published changes that come after the cursor, and
// reads all others from the index.
func (f *Feed) Stream(ctx context.Context, a Asker, c changes.Cursor, to Listener, beats, checks <-chan time.Time) {
	s := stream{Feed: f, asker: a, cursor: c, to: to, beats: beats, checks: checks}
	s.cursor.Sequences = slices.Clone(c.Sequences)
	s.follower = f.Follow(a)
	defer func() { s.follower.Leave() }()
	if s.heartbeat() != nil || s.catchUp(ctx) != nil {
		return
	}
	for err := error(nil); err == nil; {
		select {
		case <-beats: // first, since the key may have been revoked while the listener took nothing
			err = s.beat(ctx)
			continue
		case <-checks:
			err = s.renew(ctx)
			continue
		default:
		}
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
			err = s.beat(ctx)
		case <-checks:
			err = s.renew(ctx)
		}
	}
}

// beat checks the key and the index, and sends a heartbeat.
func (s *stream) beat(ctx context.Context) error {
	if err := s.renew(ctx); err != nil {
		return err
	}
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	return s.heartbeat()
}

// stream is one stream.
type stream struct {
	*Feed
	asker    Asker
	cursor   changes.Cursor // after the changes that were sent
	behind   bool           // the index may have more changes, since the last read has failed, or the key has changed
	to       Listener
	beats    <-chan time.Time
	checks   <-chan time.Time
	follower *changes.Follower
}

// errEnded says that the stream must end.
var errEnded = errors.New("the key may not read changes any more")

// renew checks the key of the listener. If the key has changed, the stream uses the new one, and
// reads from the index the changes that were published meanwhile.
func (s *stream) renew(ctx context.Context) error {
	key, valid := s.to.Renew(ctx)
	if !valid {
		return errEnded
	}
	if key != s.asker.Key {
		s.asker.Key = key
		s.follower.Leave()
		s.follower = s.Follow(s.asker)
		s.behind = true
	}
	return nil
}

// catchUp sends the changes that the index has after the cursor. That may take long, so it also
// checks the key and sends heartbeats. Its error is errEnded, errNoMemory, or that of the listener. If
// the index cannot be read, it sets behind and returns nil, so that the stream tries again later.
func (s *stream) catchUp(ctx context.Context) error {
	s.follower.Take()
	for ctx.Err() == nil {
		asked, end := s.to.Ask(ctx)
		b, err := s.Next(asked, s.asker, s.cursor, batchOfStream)
		size := sizeOf(b.Changes)
		held := s.to.Hold(size)
		end()
		if reset, ok := errors.AsType[*changes.ResetError](err); ok {
			return s.reset(ctx, reset.Reason)
		}
		if s.behind = err != nil; s.behind {
			return nil
		}
		if !held {
			if err := s.waitForMemory(ctx, size); err != nil {
				return err
			}
			continue // b is dropped, and folded again
		}
		if err := s.check(ctx); err != nil {
			return err
		}
		if s.behind { // b is for the old key
			continue
		}
		if err := s.send(b.Changes); err != nil {
			return err
		}
		if s.cursor = b.Cursor; !b.More {
			return nil
		}
		if err := s.pulse(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A stream tries memoryTries times to get memory for a batch, and waits memoryWait before each.
const (
	memoryTries = 50
	memoryWait  = 100 * time.Millisecond
)

// errNoMemory says that other answers and streams hold all memory, so that there is none for a
// batch. The stream ends, and its listener comes back with its cursor.
var errNoMemory = errors.New("there is no memory for the changes")

// waitForMemory waits until there is memory for a batch that was dropped, and holds it. The stream holds
// no other memory meanwhile.
func (s *stream) waitForMemory(ctx context.Context, bytes int) error {
	for range memoryTries {
		if err := pause.For(ctx, memoryWait); err != nil {
			return err
		}
		if err := s.pulse(ctx); err != nil {
			return err
		}
		if s.to.Hold(bytes) {
			return nil
		}
	}
	return errNoMemory
}

// pulse checks the key and sends a heartbeat if these are due. catchUp calls it, since it may take
// long.
func (s *stream) pulse(ctx context.Context) error {
	select {
	case <-s.beats:
		if err := s.renew(ctx); err != nil {
			return err
		}
		return s.heartbeat()
	default:
		return s.check(ctx)
	}
}

// sizeOf returns the bytes of the documents of changes.
func sizeOf(list []Change) (bytes int) {
	for i := range list {
		bytes += len(list[i].Document)
	}
	return bytes
}

// check checks the key if that is due. The stream calls it after a read, which may take long, and
// before it sends the changes.
func (s *stream) check(ctx context.Context) error {
	select {
	case <-s.checks:
		return s.renew(ctx)
	default:
		return nil
	}
}

// tell sends the published changes that come after the cursor.
func (s *stream) tell(ctx context.Context, published []changes.Published) error {
	fresh := slices.DeleteFunc(published, func(p changes.Published) bool {
		return p.Epoch == s.cursor.Epoch && (p.Partition >= len(s.cursor.Sequences) || p.Sequence <= s.cursor.Sequences[p.Partition])
	})
	if slices.ContainsFunc(fresh, func(p changes.Published) bool { return p.Epoch != s.cursor.Epoch }) {
		return s.catchUp(ctx)
	}
	asked, end := s.to.Ask(ctx)
	told, err := s.OfPublished(asked, s.asker, fresh)
	held := s.to.Hold(sizeOf(told))
	end()
	if s.behind = err != nil; s.behind {
		return nil
	}
	if err := s.check(ctx); err != nil {
		return err
	}
	if s.behind || !held { // told is for the old key, or is dropped
		return s.catchUp(ctx)
	}
	if err := s.send(told); err != nil {
		return err
	}
	for _, p := range fresh {
		s.cursor.Pass(p.Candidate)
	}
	return nil
}

// send sends changes, and moves the cursor past each. Afterwards it holds no memory.
func (s *stream) send(list []Change) error {
	for i := range list {
		c := &list[i]
		s.cursor.Pass(c.Candidate)
		if err := s.to.Send(EventChange, s.cursor.String(), c.Document); err != nil {
			return err
		}
	}
	s.to.Flush()
	s.to.Hold(0)
	return nil
}

// reset sends the reason for a reset, and continues with the cursor after all changes so far.
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
	s.to.Flush()
	return nil
}

// heartbeat sends the cursor.
func (s *stream) heartbeat() error {
	id := s.cursor.String()
	data := append(strictjson.AppendString([]byte(`{"cursor":`), id), '}')
	if err := s.to.Send(EventHeartbeat, id, data); err != nil {
		return err
	}
	s.to.Flush()
	return nil
}
