package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"

	"bagtrail/internal/kafka"
	"bagtrail/internal/strictjson"
)

// table holds all webhooks of the topic. It is safe for concurrent use.
type table struct {
	kafka  *kafka.Client
	topic  string
	logger *zap.Logger

	mu          sync.Mutex
	definitions map[string]entry
	positions   map[string]Position
	deleted     map[string]bool // webhooks that were deleted; they do not come back
	read        map[int]int64   // by partition: the offset of the next record
	progress    chan struct{}   // closed when a batch has been read
	changed     chan struct{}   // closed when any definition has changed
}

// entry is a definition and the place of its record.
type entry struct {
	Definition
	partition int
	offset    int64
	before    *entry        // the one that it has replaced, without its own; nil if there was none
	redefined chan struct{} // closed when the definition has changed or is deleted
}

func newTable(client *kafka.Client, topic string, logger *zap.Logger) *table {
	return &table{
		kafka: client, topic: topic, logger: logger,
		definitions: make(map[string]entry), positions: make(map[string]Position), deleted: make(map[string]bool), read: make(map[int]int64),
		progress: make(chan struct{}), changed: make(chan struct{}),
	}
}

// run reads every partition of the topic from its beginning, until ctx ends.
func (t *table) run(ctx context.Context) {
	t.kafka.Follow(ctx, t.topic, kafka.Follower{
		Begin: func(at, first, _ int64) int64 { return max(at, first) },
		Take:  t.take,
		Fail:  func(err error) { t.logger.Warn("the topic of webhooks cannot be read", zap.Error(err)) },
	})
}

// take applies a batch of records.
func (t *table) take(partition int, batch kafka.Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, known := t.read[partition]
	if t.read[partition] = batch.Next; known && before == batch.Next {
		return
	}
	defined := false
	for i := range batch.Records {
		isDefinition, err := t.apply(&batch.Records[i])
		if err != nil {
			t.logger.Error("a record of the topic of webhooks cannot be parsed, and is skipped",
				zap.Int("partition", partition), zap.Int64("offset", batch.Records[i].Offset), zap.Error(err))
		}
		defined = defined || isDefinition
	}
	close(t.progress)
	t.progress = make(chan struct{})
	if defined {
		close(t.changed)
		t.changed = make(chan struct{})
	}
}

// maxDeleted bounds how many deleted webhooks the table remembers: enough for the moment in which
// another process may change one of them.
const maxDeleted = 10_000

// positionSuffix follows the id of a webhook in the key of its position.
const positionSuffix = "/at"

// apply applies one record. A record without a value deletes a definition or a position.
func (t *table) apply(r *kafka.Record) (isDefinition bool, err error) {
	if id, ok := strings.CutSuffix(string(r.Key), positionSuffix); ok {
		var p Position
		if len(r.Value) == 0 {
			delete(t.positions, id)
		} else if err = json.Unmarshal(r.Value, &p); err == nil {
			t.positions[id] = p
		}
		return false, err
	}
	id := string(r.Key)
	if t.deleted[id] { // another process has changed it before it knew of the deletion
		return false, nil
	}
	e := entry{partition: r.Partition, offset: r.Offset, redefined: make(chan struct{})}
	if len(r.Value) > 0 {
		if err := json.Unmarshal(r.Value, &e.Definition); err != nil {
			return false, err
		}
	}
	if old, there := t.definitions[id]; there {
		close(old.redefined)
		old.before, e.before = nil, &old
	}
	if t.definitions[id] = e; len(r.Value) == 0 {
		delete(t.definitions, id)
		if len(t.deleted) == maxDeleted {
			clear(t.deleted)
		}
		t.deleted[id] = true
	}
	return true, nil
}

// catchUp waits until the table holds all records that the topic has now.
func (t *table) catchUp(ctx context.Context) error {
	spans, err := t.kafka.Bounds(ctx, t.topic)
	if err != nil {
		return err
	}
	for {
		t.mu.Lock()
		behind := false
		for _, s := range spans {
			behind = behind || t.read[s.Partition] < s.To
		}
		progress := t.progress
		t.mu.Unlock()
		if !behind {
			return nil
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return fmt.Errorf("read the topic of webhooks: %w", ctx.Err())
		}
	}
}

// entry returns the definition of a webhook with the place of its record.
func (t *table) entry(id string) (e entry, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok = t.definitions[id]
	return e, ok
}

// of returns the webhooks of a customer, the oldest first.
func (t *table) of(customer string) (list []Webhook) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, e := range t.definitions {
		if e.Customer == customer {
			list = append(list, Webhook{e.Definition, t.positions[id]})
		}
	}
	slices.SortFunc(list, func(a, b Webhook) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
	})
	return list
}

// watch returns a webhook, and a channel that is closed when its definition has changed since.
func (t *table) watch(id string) (w Webhook, redefined <-chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.definitions[id]
	return Webhook{e.Definition, t.positions[id]}, e.redefined, ok
}

// in returns the ids of the webhooks of a partition, and a channel that is closed when any
// definition has changed since.
func (t *table) in(partition int) (ids []string, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, e := range t.definitions {
		if e.partition == partition {
			ids = append(ids, id)
		}
	}
	return ids, t.changed
}

// define writes a definition, and waits until the table holds it. It returns the offset of its
// record.
func (t *table) define(ctx context.Context, d Definition) (offset int64, err error) {
	records := []kafka.Record{{Key: []byte(d.ID), Value: strictjson.Encode(d)}}
	err = t.write(ctx, records...)
	return records[0].Offset, err
}

// forget deletes a webhook, and waits until the table does not hold it any more.
func (t *table) forget(ctx context.Context, id string) error {
	return t.write(ctx, kafka.Record{Key: []byte(id)}, kafka.Record{Key: []byte(id + positionSuffix)})
}

func (t *table) forgetPosition(ctx context.Context, id string) error {
	return t.write(ctx, kafka.Record{Key: []byte(id + positionSuffix)})
}

func (t *table) write(ctx context.Context, records ...kafka.Record) error {
	if err := t.kafka.Produce(ctx, t.topic, records); err != nil {
		return fmt.Errorf("write to the topic of webhooks: %w", err)
	}
	return t.catchUp(ctx)
}

// move writes the position of a webhook, and returns when all in-sync replicas have it.
func (t *table) move(ctx context.Context, id string, p Position) error {
	record := kafka.Record{Key: []byte(id + positionSuffix), Value: strictjson.Encode(p)}
	if err := t.kafka.Produce(ctx, t.topic, []kafka.Record{record}); err != nil {
		return fmt.Errorf("write the position of a webhook: %w", err)
	}
	return nil
}
