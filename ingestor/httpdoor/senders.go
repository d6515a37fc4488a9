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

// MayPost returns a function that reports whether the key with a name may post a message now, for
// messages that are processed again. A key that is missing, expired or revoked may post none.
func MayPost(keys *apikey.Store, now time.Time) func(name string, m *parser.Message) bool {
	return func(name string, m *parser.Message) bool {
		key, found := keys.Named(name, now)
		return found && (mayPost(key, m) || key.MayUse(operation.Messages) && key.Message(m))
	}
}
