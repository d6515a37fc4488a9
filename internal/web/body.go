package web

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"bagtrail/internal/strictjson"
)

const (
	maxBody   = 1 << 20 // bytes, unless the operation says otherwise
	firstBody = 1 << 10 // bytes allocated at first, whatever Content-Length says
)

// readBody reads the body of the request. The buffer grows as bytes arrive, so that a large
// Content-Length alone allocates nothing. Body stays nil if the body is cut off, or longer than the
// limit of the operation, or if crowded is set: then there is no memory left for it, or the key lacks
// the right to the operation, and so to the memory.
func (c *Call) readBody() {
	r, buf, most := c.Request, c.body[:0], c.operation.bodyLimit()
	if c.TooLarge = r.ContentLength > int64(most); c.TooLarge {
		return
	}
	if cap(buf) == 0 {
		buf = make([]byte, 0, firstBody)
	}
	largest := most + firstBody // of the buffer; it must be larger than the body, to see the end of it
	if r.ContentLength >= 0 {
		largest = int(r.ContentLength) + firstBody
	}
	for {
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		c.received = len(buf)
		switch {
		case len(buf) > most:
			c.TooLarge = true
			return
		case err == io.EOF:
			c.Body = buf
			return
		case err != nil:
			return
		}
		if len(buf) == cap(buf) {
			size := min(2*cap(buf), largest)
			if cap(buf) < smallAnswer {
				size = min(size, smallAnswer)
			}
			if c.crowded = !c.reserve(size); c.crowded {
				return
			}
			buf = append(make([]byte, 0, size), buf...)
		}
	}
}

// discard sends the answer to a request, and reads the rest of the body, up to twice a limit. Some
// clients do not read the answer before they have sent the whole body, and would find the connection
// reset; so would nginx, which then answers 502. If nothing of the body was read, a client that sends
// Expect has not sent it.
func discard(w gin.ResponseWriter, r *http.Request, begun bool, limit int) {
	if r.ContentLength == 0 || !begun && r.Header.Get("Expect") != "" {
		return
	}
	w.Flush()
	_, _ = io.CopyN(io.Discard, r.Body, 2*int64(limit))
}

// Text returns the value of the string member name of the body, and the offset in the body of the
// value or, in a form, of its pair. The error is a *strictjson.Fault: the body is cut off, or
// neither valid JSON nor a valid form; the member is missing, repeated or not a string; or the
// request has several Content-Types. If TooLarge is set, the body counts as cut off.
//
// A body that begins with { is JSON, whatever its content type says; whitespace may precede it, a
// byte order mark may not. Any other body is a form if the content type says so, and JSON
// otherwise. A form can carry any bytes. JSON is UTF-8, whatever charset the content type names.
func (c *Call) Text(name string) (text string, at int, err error) { return c.member(name, false) }

// Document is like Text, but the member may also be a JSON object, whose JSON text is then
// returned.
func (c *Call) Document(name string) (string, error) {
	text, _, err := c.member(name, true)
	return text, err
}

func (c *Call) member(name string, orObject bool) (text string, at int, err error) {
	contentType := c.Request.Header["Content-Type"]
	switch {
	case len(contentType) > 1:
		return "", 0, &strictjson.Fault{Offset: 0, Expected: "one Content-Type"}
	case c.Body == nil:
		return "", 0, &strictjson.Fault{Offset: c.received, Expected: "the rest of the body"}
	case len(contentType) == 1 && isForm(contentType[0]) && !beginsJSON(c.Body):
		return formField(string(c.Body), name)
	}
	m, err := strictjson.Only(c.Body, name)
	if err != nil {
		return "", 0, err
	}
	if orObject && m.Value[0] == '{' {
		return string(m.Value), m.At, nil
	}
	text, ok := strictjson.Unquote(m.Value)
	if !ok {
		return "", 0, &strictjson.Fault{Offset: m.At, Expected: "a string"}
	}
	return text, m.At, nil
}

func isForm(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(mediaType), "application/x-www-form-urlencoded")
}

// beginsJSON reports whether a body begins with {. A valid form never does: it encodes the brace.
func beginsJSON(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
}

// formField returns the value of the field name of a form, and the offset of its pair.
func formField(form, name string) (value string, at int, err error) {
	found, begin := false, 0
	for pair := range strings.SplitSeq(form, "&") {
		key, text, _ := strings.Cut(pair, "=")
		key, keyErr := url.QueryUnescape(key)
		text, textErr := url.QueryUnescape(text)
		switch {
		case keyErr != nil || textErr != nil:
			return "", 0, &strictjson.Fault{Offset: begin, Expected: "two hexadecimal digits behind each %"}
		case key == name && found:
			return "", 0, &strictjson.Fault{Offset: begin, Expected: name + " once"}
		case key == name:
			value, at, found = text, begin, true
		}
		begin += len(pair) + len("&")
	}
	if !found {
		return "", 0, &strictjson.Fault{Offset: len(form), Expected: "the field " + name}
	}
	return value, at, nil
}
