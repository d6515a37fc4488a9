package web

import (
	"crypto/rand"
	"net/http"
	"strings"
)

const maxRequestID = 64 // characters

// requestID returns the caller's X-Request-Id if it is sane, and a random one otherwise.
func requestID(header http.Header) string {
	if given := header["X-Request-Id"]; len(given) == 1 && saneID(given[0]) {
		return given[0]
	}
	return rand.Text()
}

// UniqueID returns an id that no other call has: the request id, followed by a random suffix if the
// caller sent an X-Request-Id, since callers may send the same one twice.
func (c *Call) UniqueID() string {
	if _, given := c.Request.Header["X-Request-Id"]; !given {
		return c.requestID
	}
	return c.requestID + "." + rand.Text()
}

func saneID(id string) bool {
	return id != "" && len(id) <= maxRequestID &&
		strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}
