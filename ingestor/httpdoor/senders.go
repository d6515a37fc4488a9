package httpdoor

import (
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/operation"
	"bagtrail/parser"
)

// mayPost reports whether a key may post a message.
func mayPost(key *apikey.Key, m *parser.Message) bool {
	return key.MayUse(operation.ProcessBIM) && key.Message(m)
}

// Senders checks whether the sender of a message may post it now, for messages that are processed
// again.
type Senders struct {
	Keys *apikey.Store
	Now  time.Time
}

// May reports whether the key with this name may post a message now. A key that is missing, expired
// or revoked may post none.
func (s Senders) May(name string, m *parser.Message) bool {
	key, found := s.Keys.Named(name, s.Now)
	return found && (mayPost(key, m) || key.MayUse(operation.Messages) && key.Message(m))
}
