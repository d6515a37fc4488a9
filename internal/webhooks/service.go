package webhooks

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.uber.org/zap"

	"bagtrail/internal/changefeed"
	"bagtrail/internal/pause"
)

// undoLimit is how long the service tries to delete a webhook whose creation failed.
const undoLimit = time.Minute

// Create makes a webhook for the customer of a key. The webhook starts with the next change. The
// error is ErrTooMany if the customer has as many webhooks as allowed.
func (s *Service) Create(ctx context.Context, a changefeed.Asker, url, description string) (Webhook, Secret, error) {
	if err := s.writing.Acquire(ctx, 1); err != nil {
		return Webhook{}, "", err
	}
	defer s.writing.Release(1)
	if err := s.table.catchUp(ctx); err != nil {
		return Webhook{}, "", err
	}
	if len(s.table.of(a.Key.Customer)) >= MaxOfCustomer {
		return Webhook{}, "", ErrTooMany
	}
	start, err := s.conf.Feed.Now(ctx, a)
	if err != nil {
		return Webhook{}, "", err
	}
	now := s.now()
	d := Definition{
		ID: s.conf.NewID(), Customer: a.Key.Customer, Key: a.Key.Name, URL: url, Filter: a.Filter, Description: description,
		Created: now, Changed: now, Secret: 1, Started: 1, Start: start.String(),
	}
	if _, err := s.table.define(ctx, d); err != nil {
		go s.undo(context.WithoutCancel(ctx), d.ID)
		return Webhook{}, "", err
	}
	if len(s.table.of(d.Customer)) > MaxOfCustomer { // another process has created one at the same time
		return Webhook{}, "", cmp.Or(s.forget(ctx, d.ID), ErrTooMany)
	}
	return Webhook{Definition: d}, s.secrets(&d)[0], nil
}

// forget deletes a webhook that must not stay in the topic. If that fails, it tries on after it has
// returned.
func (s *Service) forget(ctx context.Context, id string) error {
	err := s.table.forget(ctx, id)
	if err != nil {
		go s.undo(context.WithoutCancel(ctx), id)
	}
	return err
}

// undo deletes a webhook that may still be in the topic and must not be there: its creation failed,
// so that nobody knows its secret, or it was deleted.
func (s *Service) undo(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, undoLimit)
	defer cancel()
	var err error
	if pause.Until(ctx, saveRetryWait, func() bool { err = s.table.forget(ctx, id); return err == nil }) != nil {
		s.conf.Logger.Error("a webhook whose creation failed, or that was deleted, may still be there: delete it", zap.String("webhook", id), zap.Error(err))
	}
}

// List returns the webhooks of a customer, the oldest first.
func (s *Service) List(ctx context.Context, customer string) ([]Webhook, error) {
	if err := s.table.catchUp(ctx); err != nil {
		return nil, err
	}
	return s.table.of(customer), nil
}

// Get returns a webhook. ok is false if the customer has no webhook with that id.
func (s *Service) Get(ctx context.Context, customer, id string) (w Webhook, ok bool, err error) {
	if err := s.table.catchUp(ctx); err != nil {
		return Webhook{}, false, err
	}
	w, _, ok = s.table.watch(id)
	return w, ok && w.Customer == customer, nil
}

// Change changes a webhook. ok is false if the customer has no webhook with that id. If another
// process changes it at the same moment, change is called again with what the other has made of it. If
// a third change comes in that moment, one of them may be lost.
func (s *Service) Change(ctx context.Context, customer, id string, change func(*Definition)) (w Webhook, ok bool, err error) {
	if err := s.writing.Acquire(ctx, 1); err != nil {
		return Webhook{}, false, err
	}
	defer s.writing.Release(1)
	if w, ok, err = s.Get(ctx, customer, id); !ok || err != nil {
		return Webhook{}, ok, err
	}
	read, ok := s.table.entry(id)
	if !ok {
		return Webhook{}, false, nil
	}
	w.Definition = read.Definition
	for {
		change(&w.Definition)
		w.Changed = s.now()
		offset, err := s.table.define(ctx, w.Definition)
		if err != nil {
			return w, true, err
		}
		written, there := s.table.entry(id)
		if !there { // another process has deleted it meanwhile: the topic must end with that
			return Webhook{}, false, s.forget(ctx, id)
		}
		if written.offset != offset || written.before == nil || written.before.offset == read.offset {
			return w, true, nil
		}
		w.Definition, read = written.before.Definition, written // the change that was replaced is not lost
	}
}

// Delete deletes a webhook. ok is false if the customer has no webhook with that id.
func (s *Service) Delete(ctx context.Context, customer, id string) (ok bool, err error) {
	if err := s.writing.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer s.writing.Release(1)
	if _, ok, err = s.Get(ctx, customer, id); !ok || err != nil {
		return ok, err
	}
	return true, s.table.forget(ctx, id)
}

// Resume ends every pause.
func (d *Definition) Resume() {
	d.Paused = false
	d.Resumed++
}

// Rewind sets a new starting point.
func (d *Definition) Rewind(since time.Time) {
	d.Started++
	d.Start, d.StartTime = "", since
}

// Rotate gives a webhook a new secret. ok is false if the customer has no webhook with that id.
func (s *Service) Rotate(ctx context.Context, customer, id string) (next Secret, ok bool, err error) {
	w, ok, err := s.Change(ctx, customer, id, func(d *Definition) { d.replaceSecret(s.now()) })
	if !ok || err != nil {
		return "", ok, err
	}
	return s.secrets(&w.Definition)[0], true, nil
}

// replaceSecret gives the webhook a new secret, and notes when the old one was replaced.
func (d *Definition) replaceSecret(now time.Time) {
	d.Secret++
	d.Replaced = append(slices.Clone(d.Replaced), now)
	d.Replaced = d.Replaced[max(0, len(d.Replaced)-maxReplaced):]
}

// Test makes one attempt to post a message without changes, and returns the delivery.
func (s *Service) Test(ctx context.Context, d *Definition) Delivery {
	at := s.now()
	return s.post(ctx, d, message{id: messageID(d.ID, "test", at.Format(time.RFC3339Nano)), kind: "bags.test", data: []byte(`{"changes":[]}`)})
}

// Deliveries returns the last deliveries of a webhook, the latest first, as JSON. It does not check
// whose webhook it is; Get does.
func (s *Service) Deliveries(ctx context.Context, id string) ([]string, error) {
	return s.conf.Deliveries.List(ctx, id)
}

// CheckURL returns an error if a new webhook may not have the URL: see Guard.CheckURL. It refuses
// blanks too, which are usually typing errors.
func (s *Service) CheckURL(url string) error {
	if strings.ContainsFunc(url, unicode.IsSpace) {
		return errors.New("the URL holds a blank")
	}
	return s.conf.Guard.CheckURL(url)
}

// now returns the time in the precision in which it is shown.
func (s *Service) now() time.Time { return s.conf.Now().UTC().Truncate(time.Millisecond) }
