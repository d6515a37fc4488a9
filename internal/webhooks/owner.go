package webhooks

import (
	"context"
	"sync"
	"time"

	"bagtrail/internal/kafka"
)

// owner posts for the webhooks of one partition. It implements kafka.Handler, but it ignores the
// records, since the table holds everything that it needs.
type owner struct {
	*Service
	partition int
	stop      context.CancelFunc
	senders   sync.WaitGroup
}

// takeOverLimit is how long an attempt to take over a partition waits for the table. The alert on
// retries needs a failure within ten seconds.
const takeOverLimit = 5 * time.Second

// TakeOver implements kafka.Handler. It waits until the table holds the positions that the owner
// before has written.
func (o *owner) TakeOver(ctx context.Context, _ int64) error {
	limited, cancel := context.WithTimeout(ctx, takeOverLimit)
	defer cancel()
	if err := o.table.catchUp(limited); err != nil {
		return err
	}
	if o.stop == nil {
		posting, cancel := context.WithCancel(context.WithoutCancel(ctx))
		o.stop = cancel
		o.senders.Go(func() { o.run(posting) })
	}
	return nil
}

// Handle implements kafka.Handler.
func (o *owner) Handle(_ context.Context, records []kafka.Record) (int, error) {
	return len(records), nil
}

// Release implements kafka.Handler. It gives up attempts under way; the next owner repeats them.
func (o *owner) Release() {
	if o.stop != nil {
		o.stop()
		o.senders.Wait()
	}
}

// run keeps a sender for each webhook of the partition, until ctx ends.
func (o *owner) run(ctx context.Context) {
	running := make(map[string]bool) // ids of webhooks
	ended := make(chan string)       // ids of senders that have ended: these webhooks may have been defined again
	for {
		ids, changed := o.table.in(o.partition)
		for _, id := range ids {
			if !running[id] {
				running[id] = true
				o.senders.Go(func() {
					newSender(o.Service, o.table, id).run(ctx)
					select {
					case ended <- id:
					case <-ctx.Done():
					}
				})
			}
		}
		select {
		case <-changed:
		case id := <-ended:
			delete(running, id)
		case <-ctx.Done():
			return
		}
	}
}
