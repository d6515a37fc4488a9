package bagstore

import (
	"context"
	"sync"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore/codec"
)

// Writer files messages. It is safe for concurrent use.
type Writer struct {
	store   *Store
	batches sync.Pool // of *batch
}

// Writer returns a writer of the store.
func (s *Store) Writer() *Writer {
	return &Writer{store: s, batches: sync.Pool{New: func() any { return new(batch) }}}
}

// File files messages. With a nil error all of them are in Redis, with all their index entries and expiries. With an
// error, which is ErrUnavailable, it is not known which are, and filing them again is safe.
//
// fresh tells of each message whether a plate, or a container, did not hold it before. After an error, or a lost reply that
// was made good, it may be false for a message that nobody has been told of: it serves statistics, not decisions.
func (w *Writer) File(ctx context.Context, filings []bag.Filing) (fresh []bool, err error) {
	fresh = make([]bool, len(filings))
	r := w.store.known.begin()
	err = w.file(ctx, filings, fresh, r)
	if err == nil && !r.valid() {
		// A connection was made anew: what was left out as known may have been lost with the one before it.
		r = w.store.known.begin()
		r.sendAll = true
		err = w.file(ctx, filings, fresh, r)
	}
	if err != nil {
		w.store.known.forget()
		return nil, unavailable("file", err)
	}
	return fresh, nil
}

// file files messages once, a batch at a time.
func (w *Writer) file(ctx context.Context, filings []bag.Filing, fresh []bool, r *round) error {
	b, _ := w.batches.Get().(*batch)
	defer w.batches.Put(b)
	b.reset()
	send := func() error {
		text := string(b.text)
		if err := w.store.send(ctx, b, text); err != nil {
			return err
		}
		for i, c := range b.commands {
			if c.verb == setField && b.replies[i].Val() > 0 {
				fresh[c.owner] = true
			}
		}
		r.confirm()
		b.reset()
		return nil
	}
	var value []byte
	for i := range filings {
		f := &filings[i]
		message := bag.Stored{Report: f.Report, Raw: f.Raw, Received: f.Received, Position: f.Position}
		identity := codec.NewIdentity(message)
		value = w.store.codec.Append(value[:0], message, soleplate(f))
		until := w.store.retention.until(f.Received, w.store.now())
		for j := range f.Entries {
			w.entry(b, r, i, &f.Entries[j], identity, value, until)
			if b.full() {
				if err := send(); err != nil {
					return err
				}
			}
		}
		for _, c := range f.Stowage {
			w.stowage(b, r, i, c, identity, value, until)
			if b.full() {
				if err := send(); err != nil {
					return err
				}
			}
		}
	}
	return send()
}

// entry adds a message under a plate, and the plate under all that the message says of it.
func (w *Writer) entry(b *batch, r *round, owner int, e *bag.Entry, identity codec.Identity, value []byte, until int64) {
	start := len(b.text)
	b.text = w.store.keys.plate(b.text, e.Plate)
	key := b.end(start)
	b.set(key, owner, identity, value)
	if r.mustSend(plateKind, bag.Flight{}, "", e.Plate, until) {
		b.expire(key, until)
	}
	w.store.keys.index(b, r, e, until)
}

// stowage adds a message that positions a container.
func (w *Writer) stowage(b *batch, r *round, owner int, c bag.Container, identity codec.Identity, value []byte, until int64) {
	start := len(b.text)
	b.text = w.store.keys.stowage(b.text, c)
	key := b.end(start)
	b.set(key, owner, identity, value)
	if r.mustSend(stowageKind, c.Flight, c.Device, "", until) {
		b.expire(key, until)
	}
}

// soleplate returns the plate of a message that names one, under which its value may be shorter; else "".
func soleplate(f *bag.Filing) string {
	if len(f.Entries) == 1 && len(f.Stowage) == 0 {
		return string(f.Entries[0].Plate)
	}
	return ""
}
