package web

import (
	"bytes"
	"io"
	"net/url"
	"strings"

	"bagtrail/internal/strictjson"
)

const (
	maxBody   = 1 << 20 // bytes, unless the operation says otherwise
	firstBody = 1 << 10 // bytes to make room for at first, whatever the caller announces
)

// readBody reads the body of the request, growing its memory as bytes come in, so that a caller who only announces much takes
// none. A body that was cut off, or is longer than the operation takes, is nil.
func (c *Call) readBody() {
	r, buf, most := c.Request, c.body[:0], c.operation.bodyLimit()
	if c.TooLarge = r.ContentLength > int64(most); c.TooLarge {
		return
	}
	if cap(buf) == 0 {
		buf = make([]byte, 0, firstBody)
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
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// Text returns the one text that the body holds under a name, and where in the body it begins. The error is a *strictjson.Fault: the body is neither JSON nor a
// form to the letter, the member is missing or repeated, or it is no string.
//
// A body that begins with { is JSON, whatever its content type says; blanks may stand before it, a byte order mark may not. Any
// other body is a form where the content type says so, and JSON otherwise. A form can carry any bytes. JSON is UTF-8, whatever
// charset the content type names.
func (c *Call) Text(name string) (text string, at int, err error) { return c.member(name, false) }

// Document is Text for a member that may also be a JSON object, which is returned as it stands in the body.
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

// beginsJSON reports whether a body begins with {. No form does that is not spoilt.
func beginsJSON(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
}

// formField returns the one value that a form holds under a name, and where its pair begins.
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
