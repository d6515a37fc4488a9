package web

import (
	"context"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/fault"
)

const eventStream = "text/event-stream"

// WantsStream reports whether the caller asks for server-sent events.
func (c *Call) WantsStream() bool {
	for _, header := range c.Request.Header["Accept"] {
		for media := range strings.SplitSeq(header, ",") {
			kind, parameters, _ := mime.ParseMediaType(media)
			quality, err := strconv.ParseFloat(parameters["q"], 64)
			if kind == eventStream && (err != nil || quality > 0) { // q=0 refuses the type (RFC 9110, 12.4.2)
				return true
			}
		}
	}
	return false
}

// Stream answers with server-sent events, which run sends. The context of run ends if the caller
// has gone, or the site stops.
func (c *Call) Stream(run func(ctx context.Context, s *Stream)) Answer {
	return Answer{Status: http.StatusOK, stream: run}
}

// Stream sends server-sent events.
type Stream struct {
	call   *Call
	writer io.Writer
}

// streamPiece is how many bytes of an event a caller must take within writeLimit.
const streamPiece = 64 << 10

// Send sends an event, at the latest with the next Flush. Neither id nor data may hold an end of
// line. An error means that the caller has gone, or has not taken a piece in 30 seconds. Each piece
// has a time limit of its own, so that a large event does not cut off a caller who reads slowly.
func (s *Stream) Send(event, id string, data []byte) error {
	for _, part := range [...][]byte{[]byte("event: " + event + "\nid: " + id + "\ndata: "), data, []byte("\n\n")} {
		for piece := range slices.Chunk(part, streamPiece) {
			_ = s.call.controller.SetWriteDeadline(time.Now().Add(writeLimit)) // in a test there is no connection
			if _, err := s.writer.Write(piece); err != nil {
				return err
			}
		}
	}
	return nil
}

// Hold counts bytes that the call holds for its caller against the memory for large answers, in
// place of those of the last Hold. If too little memory is left, it counts none and returns false.
// It does not count 64 KiB or less, and counts at most what the key may take, so that a larger
// batch need not wait for ever.
func (s *Stream) Hold(bytes int) bool {
	s.call.giveBack()
	return bytes <= smallAnswer || s.call.take(min(int64(bytes), s.call.site.answers.Most()))
}

// Flush sends the events. If that fails, the context of the stream ends.
func (s *Stream) Flush() {
	_ = s.call.controller.Flush() // always nil: the writer of the router returns no error
}

// Renew looks up the key of a long call, or its session, once more. It returns false if the key is
// not valid any more, or has lost the right to the operation. If it cannot find out whether the
// session has ended, it treats the session as valid.
func (c *Call) Renew(ctx context.Context) (*apikey.Key, bool) {
	if given, _ := apiKey(c.Request.Header, true); given != "" {
		key, known := c.site.Keys.Lookup(given, c.site.Clock())
		return key, known && key.MayUse(c.operation.Right)
	}
	found, known, err := sessionOf(ctx, c.site.Sessions, c.Request, c.site.Clock())
	return found.Key, (known || err != nil) && found.Key.MayUse(c.operation.Right)
}

// streams counts the open streams, and the calls that wait for changes.
type streams struct {
	mutex sync.Mutex
	byKey map[string]int // by the name of the key; none is 0
}

// add counts one more stream of a key. It returns false if the key has most streams already. If
// most is 0, there is no limit.
func (n *streams) add(key string, most int) bool {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if most > 0 && n.byKey[key] >= most {
		return false
	}
	n.byKey[key]++
	return true
}

// remove counts one stream of a key less.
func (n *streams) remove(key string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.byKey[key]--; n.byKey[key] == 0 {
		delete(n.byKey, key)
	}
}

// OpenStreams returns the number of open streams, together with calls that wait for changes.
func (s *Site) OpenStreams() (open int) {
	s.streams.mutex.Lock()
	defer s.streams.mutex.Unlock()
	for _, n := range s.streams.byKey {
		open += n
	}
	return open
}

func (c *Call) tooManyStreams() Answer {
	a := c.Problem(fault.RateLimitV1, "The key has "+strconv.Itoa(c.site.Settings.Streams)+" open streams and waiting requests at this process")
	a.retryAfter = true
	return a
}

// writeStream runs a stream. If the site stops, the stream ends with the time after which the
// caller should come again. The time is random, so that not all callers come at the same time.
func (s *Site) writeStream(w http.ResponseWriter, c *Call, run func(context.Context, *Stream)) {
	began := s.Clock()
	c.Buffer, c.body = nil, nil // let the buffers go: a stream does not use them
	c.endReading()
	if conn, ok := c.Request.Context().Value(connectionKey{}).(*net.TCPConn); ok { // in a test there is none
		limitSilence(conn)
	}
	ctx, cancel := context.WithCancel(c.Request.Context())
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-cache, no-transform") // compressing proxies would hold events back
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	_ = c.controller.Flush() // the caller may have gone
	stream := &Stream{call: c, writer: w}
	run(ctx, stream)
	if s.stopping.Err() != nil {
		_, _ = io.WriteString(w, "retry: "+strconv.Itoa(retryLeast+rand.IntN(retrySpread))+"\n\n") // the caller may have gone
	}
	c.idle += s.Clock().Sub(began)
}

// Callers come again after retryLeast milliseconds and a random time below retrySpread.
const (
	retryLeast  = 1000
	retrySpread = 4000
)
