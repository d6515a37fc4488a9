package web

import (
	"math/rand/v2"
	"net/http"
	"strconv"
)

const maxRequestID = 64 // characters

// requestID takes over the caller's X-Request-Id when it is sane, short and of harmless characters, and makes one otherwise.
func requestID(header http.Header) string {
	if given := header["X-Request-Id"]; len(given) == 1 && saneID(given[0]) {
		return given[0]
	}
	return randomID()
}

// randomID returns 26 letters and digits that no other call returns.
func randomID() string {
	var buffer [26]byte
	id := strconv.AppendUint(buffer[:0], rand.Uint64()|1<<63, 36)
	return string(strconv.AppendUint(id, rand.Uint64()|1<<63, 36))
}

// UniqueID returns a name for what this call brings in: the request id, and behind it what makes it differ from that of every
// other call, since a caller may send one X-Request-Id twice.
func (c *Call) UniqueID() string {
	if _, given := c.Request.Header["X-Request-Id"]; !given {
		return c.RequestID
	}
	return c.RequestID + "." + randomID()
}

func saneID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		b := id[i]
		if ('a' > b|0x20 || b|0x20 > 'z') && ('0' > b || b > '9') && b != '.' && b != '_' && b != '-' {
			return false
		}
	}
	return true
}
