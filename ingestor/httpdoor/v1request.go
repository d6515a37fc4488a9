package httpdoor

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"bagtrail/ingestor/capture"
	"bagtrail/internal/apikey"
	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
)

// requestReader reads the messages of a request.
type requestReader struct {
	messages []requestMessage
	count    int // of messages, faulty ones included
	errors   web.RequestErrors
}

// more counts a message. It returns false if there are too many, and reports the first one beyond
// maxMessages as a fault.
func (r *requestReader) more(pointer string) bool {
	r.count++
	if r.count == maxMessages+1 {
		r.errors.Add(web.RequestError{Pointer: pointer, Cause: fault.TooMany, Expected: "at most " + strconv.Itoa(maxMessages)})
	}
	return r.count <= maxMessages
}

// read reads the body in the form that its content type names.
func (r *requestReader) read(c *web.Call) {
	asText := false
	for _, p := range c.Query {
		switch {
		case p.Name != "format":
			r.errors.Add(web.RequestError{Parameter: p.Name, Cause: fault.Unknown, Got: p.Value})
		case p.Value != "text":
			r.errors.Add(web.RequestError{Parameter: p.Name, Cause: fault.Malformed, Got: p.Value, Expected: "text"})
		case asText:
			r.errors.Add(web.RequestError{Parameter: p.Name, Cause: fault.Repeated, Got: p.Value})
		default:
			asText = true
		}
	}
	media := c.MediaType()
	if isText := media == "text/plain"; isText != asText {
		r.errors.Add(web.RequestError{Parameter: "format", Cause: fault.Conflict, Got: media, Expected: "format=text with text/plain, and only with it"})
		return
	}
	switch media {
	case "text/plain":
		r.readText(c.Body)
	case "application/x-ndjson":
		number := 0
		for line := range bytes.Lines(c.Body) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				r.readMessage(line, "/"+strconv.Itoa(number))
			}
			number++
		}
	default:
		r.readList(c.Body)
	}
	if len(r.messages) == 0 && len(r.errors) == 0 {
		r.errors.Add(web.RequestError{Cause: fault.Missing, Expected: "at least one message"})
	}
}

// readText reads one message, or a capture of several.
func (r *requestReader) readText(body []byte) {
	for messages := capture.NewReader(bytes.NewReader(body)); ; {
		m, err := messages.Next()
		if errors.Is(err, io.EOF) || !r.more("") {
			return
		}
		r.messages = append(r.messages, requestMessage{text: m.Text})
	}
}

// readList reads {"messages": […]}.
func (r *requestReader) readList(body []byte) {
	seen, before := map[string]bool{}, len(r.errors)
	err := strictjson.Object(body, func(m strictjson.Member) {
		name, _ := strictjson.Unquote(m.Name)
		fail := func(cause fault.Cause, expected string) {
			r.errors.Add(web.RequestError{Pointer: web.Pointer(name), Cause: cause, Got: sent(m.Value), Expected: expected})
		}
		switch {
		case name != "messages":
			fail(fault.Unknown, "")
		case seen[name]:
			fail(fault.Repeated, "")
		case m.Value[0] != '[':
			fail(fault.Malformed, "a list")
		default:
			i := 0
			_ = strictjson.Elements(m.Value, func(value []byte) { // the body is being read as JSON
				r.readMessage(value, "/messages/"+strconv.Itoa(i))
				i++
			})
		}
		seen[name] = true
	})
	if err != nil {
		r.errors = append(r.errors[:before], web.RequestError{Cause: fault.Malformed, Expected: "a JSON object: " + err.Error()})
	}
}

// sent returns a JSON value as a fault shows it: a string is unquoted.
func sent(value []byte) string {
	if text, isText := strictjson.Unquote(value); isText {
		return text
	}
	return string(value)
}

// readMessage reads {"text": "…", "id": "…"}.
func (r *requestReader) readMessage(value []byte, pointer string) {
	if !r.more(pointer) {
		return
	}
	var message requestMessage
	seen := map[string]bool{}
	err := strictjson.Object(value, func(m strictjson.Member) {
		name, _ := strictjson.Unquote(m.Name)
		got, isText := strictjson.Unquote(m.Value)
		fail := func(cause fault.Cause, expected string) {
			r.errors.Add(web.RequestError{Pointer: pointer + web.Pointer(name), Cause: cause, Got: sent(m.Value), Expected: expected})
		}
		switch {
		case name != "text" && name != "id":
			fail(fault.Unknown, "")
		case seen[name]:
			fail(fault.Repeated, "")
		case !isText:
			fail(fault.Malformed, "a string")
		case name == "id":
			message.id, message.hasID = got, true
		default:
			message.text = strings.Clone(got)
		}
		seen[name] = true
	})
	switch {
	case err != nil:
		r.errors.Add(web.RequestError{Pointer: pointer, Cause: fault.Malformed, Got: sent(value), Expected: "a JSON object: " + err.Error()})
	case !seen["text"]:
		r.errors.Add(web.RequestError{Pointer: pointer + "/text", Cause: fault.Missing})
	default:
		r.messages = append(r.messages, message)
	}
}

// id returns a digest of the name of the key and the texts of the messages. So requests of one key
// with the same messages have the same id.
func (r *requestReader) id(key *apikey.Key) string {
	digest := sha256.New()
	add := func(text string) { _, _ = fmt.Fprintf(digest, "%d:%s", len(text), text) } // writing to a hash never fails
	add(key.Name)
	for i := range r.messages {
		add(r.messages[i].text)
	}
	return hex.EncodeToString(digest.Sum(nil))
}
