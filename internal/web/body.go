package web

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"bagtrail/internal/jsontext"
)

const (
	maxBody   = 1 << 20 // bytes
	firstBody = 1 << 10 // bytes to make room for at first, whatever the caller announces
)

// readBody reads the body of a request into buf, growing it as bytes come in, so that a caller who only announces much takes
// no memory. A body that was cut off is nil; whole is false where it is longer than maxBody.
func readBody(r *http.Request, buf []byte) (body []byte, whole bool) {
	if r.ContentLength > maxBody {
		return nil, false
	}
	if cap(buf) == 0 {
		buf = make([]byte, 0, firstBody)
	}
	for {
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > maxBody:
			return nil, false
		case err == io.EOF:
			return buf, true
		case err != nil:
			return nil, true
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// Text returns the one text that the body holds under a name: a form where the content type says so, JSON otherwise. It is
// false where the body is neither to the letter, where the member is missing or repeated, and where it is no string.
//
// A form can carry any bytes. JSON is UTF-8, whatever charset the content type names.
func (c *Call) Text(name string) (value string, ok bool) {
	mediaType, _, _ := strings.Cut(c.Request.Header.Get("Content-Type"), ";")
	if strings.EqualFold(strings.TrimSpace(mediaType), "application/x-www-form-urlencoded") {
		return formText(string(c.Body), name)
	}
	return jsontext.StringMember(c.Body, name)
}

func formText(form, name string) (value string, ok bool) {
	for more := form != ""; more; {
		var pair string
		pair, form, more = strings.Cut(form, "&")
		key, text, _ := strings.Cut(pair, "=")
		key, keyErr := url.QueryUnescape(key)
		if keyErr != nil || ok && key == name {
			return "", false
		}
		text, textErr := url.QueryUnescape(text)
		if textErr != nil {
			return "", false
		}
		if key == name {
			value, ok = text, true
		}
	}
	return value, ok
}
