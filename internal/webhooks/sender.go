package webhooks

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/apikey"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/pause"
)

// sender posts the changes for one webhook, one batch after the other.
type sender struct {
	*Service
	store webhookStore
	id    string
	at    Position
	limit int       // how many changes the next batch may have; fewer after an answer 413
	saved time.Time // when the position was last written
	known time.Time // when this process last knew the key, or was first asked for it
	late  bool      // the next fold may take long: the last one did, and did not reach the end, or there was none since a new starting point
}

// webhookStore is the part of the table that a sender uses.
type webhookStore interface {
	move(ctx context.Context, id string, p Position) error
	forgetPosition(ctx context.Context, id string) error
	watch(id string) (w Webhook, redefined <-chan struct{}, ok bool)
}

func newSender(s *Service, store webhookStore, id string) *sender {
	w, _, _ := store.watch(id)
	now := s.conf.Now()
	return &sender{Service: s, store: store, id: id, at: w.At, limit: maxChanges, saved: now, known: now}
}

const (
	lookAgain = 5 * time.Second  // how often to read the index if there is no news of a change
	saveEvery = 10 * time.Minute // how often to write the position of a webhook that has nothing to post
)

// run posts until ctx ends or the webhook is deleted.
func (s *sender) run(ctx context.Context) {
	for ctx.Err() == nil {
		w, redefined, there := s.store.watch(s.id)
		if !there {
			if err := s.store.forgetPosition(ctx, s.id); err != nil { // the last batch may have written it after the deletion
				s.conf.Logger.Warn("the position of a deleted webhook cannot be removed", zap.String("webhook", s.id), zap.Error(err))
			}
			return
		}
		s.step(ctx, &w.Definition, redefined)
	}
}

// step posts the next batch, if there is one and the webhook is active. Otherwise it waits until
// there may be something to do. redefined is closed when the definition has changed.
func (s *sender) step(ctx context.Context, d *Definition, redefined <-chan struct{}) {
	wait := func(most time.Duration, news <-chan struct{}) {
		select {
		case <-time.After(most):
		case <-news:
		case <-redefined:
		case <-ctx.Done():
		}
	}
	asker, err := s.asker(d)
	if idle := s.idle(ctx, d, asker, err); idle > 0 {
		wait(idle, nil)
		return
	}
	news, leave := s.conf.Feed.News(asker)
	defer leave()
	more, err := s.next(ctx, d, asker)
	switch {
	case errors.Is(err, errCrowded):
		s.conf.Logger.Warn("a webhook waits for memory", zap.String("webhook", s.id), zap.Error(err))
		wait(lookAgain, nil) // news does not help
	case err != nil || !more:
		if err != nil && ctx.Err() == nil && !errors.Is(err, changes.ErrBeingBuilt) {
			s.conf.Logger.Warn("the changes of a webhook cannot be read, and are retried", zap.String("webhook", s.id), zap.Error(err))
		}
		wait(lookAgain, news)
	}
}

// idle returns how long to wait before the next check; it is not above 0 if changes may be posted
// now. It ends the pause by the service if the customer has resumed the webhook, and pauses the
// webhook if its key may not be used. refused says why the key may not be used, and is nil if it
// may.
func (s *sender) idle(ctx context.Context, d *Definition, a changefeed.Asker, refused error) time.Duration {
	now := s.conf.Now()
	if p := s.at.Pause; p != nil && p.Resumed != d.Resumed {
		s.at.Pause, s.at.Failing = nil, nil
	}
	if !errors.Is(refused, errUnknownKey) {
		s.known = now
	}
	switch {
	case d.Paused || s.at.Pause != nil:
	case refused == nil:
		return min(s.untilNextAttempt(d), lookAgain) // no longer, since the key may be revoked meanwhile
	case now.Sub(d.Changed) < apikey.MaxKeyFileLag, errors.Is(refused, errUnknownKey) && now.Sub(s.known) < apikey.MaxKeyFileLag:
		// A process with a newer key file may have accepted the change of the webhook, or know the key.
		return lookAgain
	default:
		s.pauseFor(d, refused.Error())
		s.save(ctx)
	}
	return s.rest(ctx, d, a, refused == nil)
}

// untilNextAttempt returns how long to wait after a failed attempt. A changed definition is tried at
// once. So is a batch whose wait is longer than any delay, since the clock that set it was ahead.
func (s *sender) untilNextAttempt(d *Definition) time.Duration {
	f := s.at.Failing
	if f == nil || !d.Changed.Equal(f.Tried) {
		return 0
	}
	left := f.Next.Sub(s.conf.Now())
	if left > 2*longestDelay {
		return 0
	}
	return left
}

// rest updates the position of a paused webhook, and returns how long to wait. It clears the failed
// attempts, which say nothing about the time after the pause. It turns a new starting point into a
// cursor at once: after the pause the changes since then may not be kept any more, and only a
// cursor shows that.
func (s *sender) rest(ctx context.Context, d *Definition, a changefeed.Asker, known bool) time.Duration {
	started, failing := s.at.Started, s.at.Failing != nil
	s.at.Failing = nil
	if started != d.Started {
		if !known {
			return lookAgain
		}
		if _, err := s.cursor(ctx, d, a); err != nil {
			return lookAgain
		}
	}
	if failing || started != s.at.Started {
		s.save(ctx)
	}
	return longestDelay
}

// next posts the next batch, if there is one. more reports whether another may follow at once.
func (s *sender) next(ctx context.Context, d *Definition, a changefeed.Asker) (more bool, err error) {
	cursor, err := s.cursor(ctx, d, a)
	if err != nil {
		return false, err
	}
	batch, err := s.fold(ctx, a, cursor)
	var useless *changes.ResetError
	switch {
	case errors.As(err, &useless):
		m := reset(s.id, s.at.Cursor, useless.Reason)
		if cursor, err = s.conf.Feed.Now(ctx, a); err != nil {
			return false, err
		}
		return true, s.attempt(ctx, d, a, m, cursor)
	case err != nil:
		return false, err
	case len(batch.Changes) > 0:
		return true, s.attempt(ctx, d, a, changed(s.id, batch.Changes), batch.Cursor)
	}
	s.at.Cursor = batch.Cursor.String()
	over := s.at.Failing != nil && !batch.More // nothing is left to post of the batch that failed
	if over {
		s.at.Failing = nil
	}
	if over || s.conf.Now().Sub(s.saved) >= saveEvery {
		s.save(ctx)
	}
	return batch.More, nil
}

// cursor returns the cursor at which to continue: a new starting point if one was set, else the
// position.
func (s *sender) cursor(ctx context.Context, d *Definition, a changefeed.Asker) (c changes.Cursor, err error) {
	if s.at.Started != d.Started {
		text := d.Start
		if text == "" {
			if c, err = s.conf.Feed.Since(ctx, a, d.StartTime); err != nil {
				return c, err
			}
			text = c.String()
		}
		s.at, s.late = Position{Started: d.Started, Cursor: text, Pause: s.at.Pause}, true
	}
	c, err = changes.ParseCursor(s.at.Cursor)
	c.Filter = a.Filter.Digest() // a new filter continues at the cursor of the old one
	return c, err
}

// A fold that takes longFold or more, and does not reach the end, makes a webhook late.
const longFold = 500 * time.Millisecond

// fold returns the next batch. A webhook that is late takes a place in catchingUp first, so that it
// does not hold up webhooks that only post new changes.
func (s *sender) fold(ctx context.Context, a changefeed.Asker, c changes.Cursor) (changefeed.Batch, error) {
	if s.late {
		if err := s.catchingUp.Acquire(ctx, 1); err != nil {
			return changefeed.Batch{}, err
		}
		defer s.catchingUp.Release(1)
	}
	if err := s.folding.Acquire(ctx, 1); err != nil {
		return changefeed.Batch{}, err
	}
	defer s.folding.Release(1)
	ctx, question := s.memory.Ask(ctx)
	defer question.End()
	began := s.conf.Now()
	batch, err := s.conf.Feed.Next(ctx, a, c, changefeed.Limits{Changes: s.limit, Bytes: maxBytes - aroundBytes})
	if err == nil {
		s.late = batch.More && s.conf.Now().Sub(began) >= longFold
	}
	return batch, err
}

// attempt posts a message. If the receiver accepts it, the position moves to the cursor after it.
// Otherwise attempt notes the failure. If the definition or the key has changed since the message was
// made, attempt does nothing: the caller looks at the webhook again. If the large messages of the
// customer take all memory that it may have for them, the error is errCrowded.
func (s *sender) attempt(ctx context.Context, d *Definition, a changefeed.Asker, m message, after changes.Cursor) error {
	if !s.isCurrent(d, a) {
		return nil
	}
	if len(m.data) > maxBytes {
		n := min(2*int64(len(m.data)), s.posting.Most()) // data and body; a larger one takes all
		if !s.posting.Try(d.Customer, n) {
			return errCrowded
		}
		defer s.posting.Return(d.Customer, n)
	}
	result := s.post(ctx, d, m)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case result.taken():
		s.at.Cursor, s.at.Failing = after.String(), nil
		s.limit = min(maxChanges, s.limit+1)
	case result.Status == http.StatusGone && s.isCurrent(d, a): // else the customer may have given it another URL meanwhile
		s.pauseFor(d, "the receiver answered 410 Gone")
	case result.Status == http.StatusRequestEntityTooLarge && m.changes > 1:
		s.limit = m.changes / 2
		return nil
	default:
		now := s.conf.Now()
		f := Failing{Since: now, Attempts: 1, Reason: result.reason(), Tried: d.Changed}
		if before := s.at.Failing; before != nil && now.Sub(before.Next) <= longestDelay { // later, nobody has tried: the service was stopped, for example
			f.Since, f.Attempts = before.Since, before.Attempts+1
		}
		f.Next = now.Add(delay(f.Attempts, result.retryAfter, s.conf.Random()))
		s.at.Failing = &f
		if now.Sub(f.Since) >= patience {
			s.pauseFor(d, "72 hours without success: "+f.Reason)
		}
	}
	s.save(ctx)
	return nil
}

// errCrowded says that receivers have not taken other large messages of the customer yet.
var errCrowded = errors.New("the memory for large changes is used up")

// isCurrent reports whether the definition and its key are still those of a message that was made.
func (s *sender) isCurrent(d *Definition, a changefeed.Asker) bool {
	w, _, there := s.store.watch(s.id)
	now, err := s.asker(d)
	return there && w.Changed.Equal(d.Changed) && err == nil && now.Key == a.Key
}

// pauseFor pauses the webhook until its customer resumes it. The caller saves the position.
func (s *sender) pauseFor(d *Definition, reason string) {
	s.at.Pause = &Pause{Since: s.conf.Now(), Reason: reason, Resumed: d.Resumed}
	s.at.Failing = nil
	s.conf.Logger.Warn("a webhook is paused", zap.String("webhook", s.id), zap.String("reason", reason))
}

// saveRetryWait is the time between two attempts to write the position of a webhook, or to delete one.
const saveRetryWait = time.Second

// save writes the position. It retries until it succeeds or ctx ends: the next batch must wait for
// it.
func (s *sender) save(ctx context.Context) {
	for {
		err := s.store.move(ctx, s.id, s.at)
		if err == nil || ctx.Err() != nil {
			s.saved = s.conf.Now()
			return
		}
		s.conf.Logger.Warn("the position of a webhook cannot be written, and is retried", zap.String("webhook", s.id), zap.Error(err))
		_ = pause.For(ctx, saveRetryWait)
	}
}
