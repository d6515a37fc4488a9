package command

import (
	"path/filepath"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/parser"
)

// senders judges rejected messages again. What was posted with a key is accepted only if that key may post it now: a faulty message was
// rejected before anybody asked.
type senders struct {
	*ingestor.Pipeline
	reference parser.Reference
	keys      *apikey.Store
	now       time.Time
	refused   func() // is called for each message that its key may not post
}

// Judge implements kafkadoor.Judge.
func (s senders) Judge(env ingestor.Envelope) ingestor.Outcome {
	outcome := s.Pipeline.Judge(env)
	if outcome.Verdict == ingestor.Rejected || env.Sender == "" || s.may(env) {
		return outcome
	}
	s.refused()
	entry := fault.BIMNotAuthorised.Entry()
	return ingestor.Outcome{Verdict: ingestor.Rejected, Identifier: outcome.Identifier, Errors: []ingestor.Diagnostic{{
		Code: entry.Code, Line: 1, Column: 1, Expected: "a key that may post the message", Description: entry.Text,
	}}}
}

// keysInForce returns the keys that a service with these settings goes by.
func (s *service) keysInForce() (*apikey.Store, error) {
	path := s.conf.Files.Keys
	if path == "" && s.conf.HTTP.Loopback() {
		return apikey.Development(), nil
	}
	if path == "" {
		path = filepath.Join(s.conf.DataDir, ownKeyFile)
	}
	keys, err := apikey.Open(path, s.airlines)
	return keys, unusable(err)
}

// may reports whether the key that posted a message may do so now.
func (s senders) may(env ingestor.Envelope) bool {
	key, known := s.keys.Named(env.Sender, s.now)
	if !known || !key.MayUse(operation.ProcessBIM) {
		return false
	}
	var m parser.Message
	m.Parse(env.Raw, s.reference)
	return key.Message(&m)
}
