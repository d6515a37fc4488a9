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

// MayPost returns a function for rejects that are judged again (rules §4). The function reports
// whether the key with this name may post the message at the time now. A key that is missing,
// expired or revoked may post none.
func MayPost(keys *apikey.Store, now time.Time) func(name string, m *parser.Message) bool {
	return func(name string, m *parser.Message) bool {
		key, found := keys.Named(name, now)
		return found && (mayPost(key, m) || key.MayUse(operation.Messages) && key.Message(m))
	}
}
