package webhooks

import "context"

// Store is the part of the Table that a sender uses.
type Store = webhookStore

// MapStore holds webhooks in memory.
type MapStore struct {
	Definition Definition
	At         Position
	Moves      []Position
	Changed    chan struct{}
}

func (m *MapStore) get(id string) (Webhook, bool) {
	return Webhook{m.Definition, m.At}, id == m.Definition.ID
}

func (m *MapStore) move(_ context.Context, _ string, p Position) error {
	m.At, m.Moves = p, append(m.Moves, p)
	return nil
}

func (m *MapStore) watch() <-chan struct{} { return m.Changed }

// Change changes the definition.
func (m *MapStore) Change(change func(d *Definition)) {
	change(&m.Definition)
	close(m.Changed)
	m.Changed = make(chan struct{})
}

// Send posts for the webhook of a store until ctx ends.
func (s *Service) Send(ctx context.Context, store *MapStore) {
	newSender(s, store, store.Definition.ID).run(ctx)
}
