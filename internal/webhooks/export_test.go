package webhooks

import (
	"context"
	"errors"
	"sync"
	"time"
)

// MapStore holds webhooks in memory.
type MapStore struct {
	mu         sync.Mutex
	Definition Definition
	At         Position
	Changed    chan struct{}
	Refuse     int // how many of the next positions are not written
}

func (m *MapStore) watch(id string) (w Webhook, redefined <-chan struct{}, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Webhook{m.Definition, m.At}, m.Changed, id == m.Definition.ID
}

func (m *MapStore) move(_ context.Context, _ string, p Position) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Refuse > 0 {
		m.Refuse--
		return errors.New("the position is not written")
	}
	m.At = p
	return nil
}

func (m *MapStore) forgetPosition(context.Context, string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.At = Position{}
	return nil
}

// Position returns the position.
func (m *MapStore) Position() Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.At
}

// Change changes the definition.
func (m *MapStore) Change(change func(d *Definition)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.Definition)
	m.Definition.Changed = time.Now()
	close(m.Changed)
	m.Changed = make(chan struct{})
}

// TakeOver lets a service take over a partition.
func (s *Service) TakeOver(ctx context.Context, partition int) error {
	return (&owner{Service: s, partition: partition}).TakeOver(ctx, 0)
}

// Send posts for the webhook of a store until ctx ends.
func (s *Service) Send(ctx context.Context, store *MapStore) {
	newSender(s, store, store.Definition.ID).run(ctx)
}
