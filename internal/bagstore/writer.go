package bagstore

import (
	"context"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore/codec"
)

// Writer files messages. It is safe for concurrent use.
type Writer struct {
	store     *Store
	restoring bool
}

// Writer returns a writer of the store.
func (s *Store) Writer() *Writer { return &Writer{store: s} }

// RestoringWriter returns a writer that also reports a message as fresh if one of its index entries
// was missing: one master of a cluster may have lost the entries of a message that another master
// still holds. If messages are filed together, the writer may report a message as fresh because an
// entry of another message was missing.
func (s *Store) RestoringWriter() *Writer { return &Writer{store: s, restoring: true} }

// File files messages. After a nil error all of them are in Redis, with all their index entries and
// expiries. After an error, which wraps redis.ErrUnavailable, it is not known which are, and filing
// them again is safe.
//
// fresh reports, for each message, whether a plate or a container did not hold it before. It may be
// false for a message that an earlier call filed before that call failed.
func (w *Writer) File(ctx context.Context, filings []bag.Filing) (fresh []bool, err error) {
	added := make([]int, len(filings))
	b := w.store.newBatch()
	err = w.file(ctx, filings, added, b)
	if err == nil && !b.round.valid() {
		// There is a new connection. Its server may lack writes that were left out because they
		// were known.
		b = w.store.newBatch()
		b.round.sendAll = true
		err = w.file(ctx, filings, added, b)
	}
	if err != nil {
		w.store.known.forget()
		return nil, unavailable("file", err)
	}
	fresh = make([]bool, len(filings))
	for i := range added {
		fresh[i] = added[i] > 0
	}
	return fresh, nil
}

// file files messages in the round of a batch. In added it counts, for each message, the hashes
// that did not hold it before and, if the writer is restoring, the entries that were missing.
func (w *Writer) file(ctx context.Context, filings []bag.Filing, added []int, b *batch) error {
	k := w.store.keys
	var packed []byte
	for i := range filings {
		f := &filings[i]
		message := bag.Stored{Report: f.Report, Raw: f.Raw, Received: f.Received, Position: f.Position}
		identity := codec.NewIdentity(message)
		packed = w.store.codec.Append(packed[:0], message, solePlate(f))
		value := string(packed)
		until := w.store.retention.until(f.Received, w.store.now())
		add := func(key string) error {
			b.add(&added[i], "hset", key, string(identity[:]), value)
			b.expireOnce(key, until)
			if b.full() {
				return b.send(ctx)
			}
			return nil
		}
		var entries *int
		if w.restoring {
			entries = &added[i]
		}
		for j := range f.Entries {
			// The lists are written first, so that a bag with a history is never missing in them. The
			// masters of a cluster do not wait for each other, so there it may be missing for a moment.
			b.index(entries, &f.Entries[j], until)
			if err := add(k.plate(f.Entries[j].Plate)); err != nil {
				return err
			}
		}
		b.indexEnds(entries, f.Ends, until)
		for _, c := range f.Stowage {
			if err := add(k.stowage(c)); err != nil {
				return err
			}
		}
	}
	return b.send(ctx)
}

// solePlate returns the plate of a message that names one plate, otherwise "". The value of the
// message does not contain it, see codec.Append.
func solePlate(f *bag.Filing) string {
	if len(f.Entries) == 1 {
		return string(f.Entries[0].Plate)
	}
	return ""
}
