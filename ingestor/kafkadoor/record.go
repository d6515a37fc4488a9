package kafkadoor

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unsafe"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
	"bagtrail/internal/strictjson"
)

// Headers of the records, and their values.
const (
	headerType        = "content-type"
	headerReceived    = "bagtrail-received"
	headerKind        = "bagtrail-kind"
	headerReplayed    = "bagtrail-replayed" // of a message that has no position; the value does not matter
	headerNumber      = "bagtrail-number"   // of a message of POST /v1/messages: its number there, from 0
	headerOrigin      = "bagtrail-origin"
	headerCodes       = "bagtrail-codes"
	headerDoor        = "bagtrail-door"
	headerSender      = "bagtrail-key"    // the name of an API key
	headerReject      = "bagtrail-reject" // of a resubmitted message: the id of its reject
	headerDiagnostics = "bagtrail-diagnostics"

	typeJSON = "application/json"

	kindReport = "delayed-bag-report"

	receivedForm = strictjson.Millis // received times have whole milliseconds
)

// rawEnvelope puts a record of the raw topic into an envelope, which shares the memory of the record.
func rawEnvelope(topic string, r *kafka.Record) ingestor.Envelope {
	env := envelope(r)
	env.Logged, env.Origin = true, origin(topic, r)
	if !env.NoPosition {
		env.Position = position(r)
	}
	return env
}

// rejectEnvelope puts a record of the rejects topic into an envelope, which shares the memory of the
// record.
func rejectEnvelope(topic string, r *kafka.Record) ingestor.Envelope {
	env := envelope(r)
	env.NoPosition, env.Door, env.Sender = true, r.Header(headerDoor), r.Header(headerSender)
	// Another program may have written the record.
	if strings.ContainsFunc(env.Door, func(c rune) bool { return c < 'a' || c > 'z' }) {
		env.Door = ""
	}
	if strings.ContainsFunc(env.Sender, unicode.IsControl) {
		env.Sender = ""
	}
	if env.Origin = r.Header(headerOrigin); env.Origin == "" { // another program has written it
		env.Origin = origin(topic, r)
	}
	return env
}

// envelope puts the key, the value and the time of a record into an envelope, and the headers that say
// how to read the value.
func envelope(m *kafka.Record) ingestor.Envelope {
	env := ingestor.Envelope{Raw: view(m.Value), Key: view(m.Key), Received: clamp(m.Time)}
	for i := range m.Headers {
		h := &m.Headers[i]
		switch h.Key {
		case headerReceived:
			if t, err := time.Parse(time.RFC3339, view(h.Value)); err == nil && clamp(t).Equal(t) {
				env.Received = t
			}
			env.Relayed = true // only doors of this service write this header
		case headerType:
			media, _, _ := strings.Cut(view(h.Value), ";")
			env.JSON = strings.EqualFold(strings.TrimSpace(media), typeJSON)
		case headerKind:
			env.Report = env.Report || view(h.Value) == kindReport
		case headerReplayed:
			env.NoPosition = true
		}
	}
	return env
}

// position returns the position of a record of the raw topic.
func position(r *kafka.Record) bag.Position {
	if text := r.Header(headerNumber); text != "" {
		if n, err := strconv.ParseUint(text, 10, 31); err == nil {
			return bag.InRequest(int(n))
		}
	}
	return bag.Position{Known: true, Partition: int32(r.Partition), Offset: r.Offset}
}

// origin names a record of a topic.
func origin(topic string, r *kafka.Record) string {
	return topic + "/" + strconv.Itoa(r.Partition) + "/" + strconv.FormatInt(r.Offset, 10)
}

// The first and the last received time that can be written. A record without a timestamp counts as
// received at the first.
var (
	firstReceived = time.Unix(0, 0).UTC()
	lastReceived  = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
)

func clamp(t time.Time) time.Time {
	switch {
	case t.Before(firstReceived):
		return firstReceived
	case t.After(lastReceived):
		return lastReceived
	}
	return t
}

// view returns b as a string without copying it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// rawRecord returns the record of an accepted message on the raw topic.
func rawRecord(r ingestor.Record) kafka.Record {
	m := kafka.Record{
		Value:   []byte(r.Raw),
		Time:    r.Received,
		Headers: []kafka.Header{{Key: headerReceived, Value: []byte(r.Received.Format(receivedForm))}},
	}
	if r.Plate != "" {
		m.Key = []byte(r.Plate)
	}
	if r.Report {
		m.Headers = append(m.Headers, kafka.Header{Key: headerKind, Value: []byte(kindReport)})
	}
	if r.NoPosition {
		m.Headers = append(m.Headers, kafka.Header{Key: headerReplayed, Value: []byte("true")})
	}
	if n, ok := r.Position.Number(); ok {
		m.Headers = append(m.Headers, kafka.Header{Key: headerNumber, Value: strconv.AppendInt(nil, int64(n), 10)})
	}
	if r.Reject != "" {
		m.Headers = append(m.Headers, kafka.Header{Key: headerReject, Value: []byte(r.Reject)}, kafka.Header{Key: headerSender, Value: []byte(r.Sender)})
	}
	return m
}

// Limits in bytes of the list of diagnostics of a reject, so that brokers accept the record. The
// list of codes is always complete.
const (
	maxDiagnostics = 256 << 10
	fewDiagnostics = 64 << 10 // if the rejects topic does not accept maxDiagnostics
)

// rejectRecord returns the record of a rejected message on the rejects topic. It has the headers
// that say how to read the value, so that the message can be judged again. Its time is now, so its
// retention begins now. The list of diagnostics has at most diagnostics bytes.
func rejectRecord(r ingestor.Rejection, diagnostics int) kafka.Record {
	m := kafka.Record{
		Key:   []byte(r.Key), // not nil: a compacted topic takes no record without a key
		Value: []byte(r.Raw),
		Time:  time.Now(),
		Headers: []kafka.Header{
			{Key: headerOrigin, Value: []byte(r.Origin)},
			{Key: headerDoor, Value: []byte(r.Door)},
			{Key: headerCodes, Value: []byte(strings.Join(ingestor.Codes(r.Errors), ","))},
			{Key: headerDiagnostics, Value: ingestor.AppendFirstDiagnostics(nil, r.Errors, diagnostics)},
			{Key: headerReceived, Value: []byte(r.Received.UTC().Format(receivedForm))},
		},
	}
	if r.Sender != "" {
		m.Headers = append(m.Headers, kafka.Header{Key: headerSender, Value: []byte(r.Sender)})
	}
	if r.JSON {
		m.Headers = append(m.Headers, kafka.Header{Key: headerType, Value: []byte(typeJSON)})
	}
	if r.Report {
		m.Headers = append(m.Headers, kafka.Header{Key: headerKind, Value: []byte(kindReport)})
	}
	return m
}
