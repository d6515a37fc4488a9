package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/changefeed"
	"bagtrail/internal/strictjson"
)

// Limits of a delivery.
const (
	maxChanges  = 100
	maxBytes    = 96 << 10 // of a body, unless it has only one change
	aroundBytes = 256      // of a body without its changes
)

// message is the content of a post.
type message struct {
	id      string
	kind    string // type of the body
	data    []byte // member data of the body, a JSON object
	changes int
}

// changed returns a message with changes.
func changed(webhook string, list []changefeed.Change) message {
	ids := make([]string, len(list))
	data := []byte(`{"changes":[`)
	for i, c := range list {
		ids[i] = c.ID
		data = append(strictjson.AppendComma(data), c.Document...)
	}
	return message{messageID(webhook, ids...), "bags.changed", append(data, "]}"...), len(list)}
}

// reset returns a message that says that a cursor could not be followed.
func reset(webhook, cursor, reason string) message {
	data := strictjson.AppendString([]byte(`{"reason":`), reason)
	return message{messageID(webhook, "reset", cursor), "bags.reset", append(data, '}'), 0}
}

// body returns the body of an attempt.
func (m *message) body(at time.Time) []byte {
	dst := strictjson.AppendText([]byte{'{'}, "type", m.kind)
	dst = strictjson.AppendInstant(dst, "timestamp", at)
	return append(append(strictjson.AppendName(dst, "data"), m.data...), '}')
}

// Delivery is one attempt to post.
type Delivery struct {
	ID       string `json:"id"`               // header webhook-id
	Type     string `json:"type"`             // of the body, such as bags.changed
	Changes  int    `json:"changes"`          // number of changes in the body
	Time     string `json:"time"`             // when the attempt began, in RFC 3339, UTC
	Status   int    `json:"status,omitempty"` // HTTP; 0 if there was no answer
	Duration int64  `json:"duration_ms"`
	Answer   string `json:"answer,omitempty"` // its first bytes
	Error    string `json:"error,omitempty"`  // why there was no answer

	retryAfter time.Duration // from the header Retry-After of the answer; 0 if there is none
}

// taken reports whether the receiver has accepted the message.
func (d *Delivery) taken() bool { return d.Status/100 == 2 }

// reason describes a failed attempt.
func (d *Delivery) reason() string {
	if d.Status == 0 {
		return d.Error
	}
	return "the receiver answered " + strconv.Itoa(d.Status)
}

const (
	maxAnswer  = 200     // how many bytes of an answer are kept
	maxDrained = 4 << 10 // how many more bytes are read, so that the connection can be used again
)

// post makes one attempt, and keeps a record of it, unless ctx ends meanwhile.
func (s *Service) post(ctx context.Context, d *Definition, m message) Delivery {
	began := s.conf.Now()
	body := m.body(began)
	result := Delivery{ID: m.id, Type: m.kind, Changes: m.changes, Time: began.UTC().Format(strictjson.Millis)}
	limited, cancel := context.WithTimeout(ctx, deliveryLimit)
	defer cancel()
	if err := s.conf.Guard.CheckURL(d.URL); err != nil { // it may have been allowed when the webhook was made
		result.Error = err.Error()
	} else if err := s.send(limited, d, body, began, &result); err != nil {
		result.Status, result.Error = 0, describe(err)
	}
	if ctx.Err() != nil { // the attempt was given up; the receiver did not fail
		return result
	}
	if result.taken() {
		s.conf.Count(taken)
	} else {
		s.conf.Count(failed)
	}
	result.Duration = s.conf.Now().Sub(began).Milliseconds()
	s.keep(ctx, d.ID, &result)
	return result
}

// send posts a body, signed at a time, and sets the answer in result. The status counts even if the
// body of the answer is cut off or late.
func (s *Service) send(ctx context.Context, d *Definition, body []byte, at time.Time, result *Delivery) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	h := request.Header
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "bagtrail")
	h.Set("webhook-id", result.ID)
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", Signatures(s.secrets(d), result.ID, at.Unix(), body))
	// This is not sent. It lets net/http send the request again, over a new connection, if the receiver
	// has closed the idle one meanwhile: a receiver knows a message that is repeated by its id.
	h["Idempotency-Key"] = nil
	response, err := s.conf.Client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // the rest of the body does not matter
	switch {
	case response.StatusCode < http.StatusContinue:
		return errStatus
	case response.StatusCode == http.StatusSwitchingProtocols:
		result.Status = response.StatusCode
		return nil // the body is the connection itself, which no timeout ends
	}
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // as much of it as there is
	_, _ = io.CopyN(io.Discard, response.Body, maxDrained)            // after an error the connection is not used again
	result.Status, result.Answer = response.StatusCode, strings.ToValidUTF8(string(answer), "\ufffd")
	result.retryAfter = readRetryAfter(response.Header.Get("Retry-After"), s.conf.Now())
	return nil
}

// errStatus says that the status of an answer is none of HTTP, such as 000.
var errStatus = errors.New("the status is lower than 100")

// describe says why there was no answer. It never names an address: the name of a receiver may
// resolve to an address that its owner should not learn.
func describe(err error) string {
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	switch {
	case errors.Is(err, ErrAddress):
		return ErrAddress.Error()
	case errors.As(err, &certificate):
		return "the certificate of the receiver is not valid"
	case errors.As(err, &name):
		return "the name of the receiver cannot be resolved"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	}
	return "no connection, or no whole answer"
}

// keepLimit is the time limit of keep.
const keepLimit = time.Second

// keep stores a delivery. If that fails, the delivery is lost.
func (s *Service) keep(ctx context.Context, webhook string, d *Delivery) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	if err := s.conf.Deliveries.Add(limited, webhook, strictjson.Encode(d)); err != nil {
		s.conf.Logger.Warn("a delivery cannot be recorded", zap.String("webhook", webhook), zap.Error(err))
	}
}
