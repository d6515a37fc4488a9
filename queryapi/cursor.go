package queryapi

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"bagtrail/internal/fault"
)

// A cursor is a position in the list that a question draws, followed by a digest of both, so that
// one of another question is found out. It gives no rights: each page is judged by the key that
// asks for it. It holds no name and no PNR.

// digestBytes is how much of the digest is kept: enough for mistakes. Who forges a digest only
// chooses where to begin.
const digestBytes = 6

// newCursor returns the cursor of a position for a question. Neither may hold a NUL.
func newCursor(question, position string) string {
	sum := sha256.Sum256([]byte(question + "\x00" + position))
	return base64.RawURLEncoding.EncodeToString(append(sum[:digestBytes], position...))
}

// position returns what a cursor of the question holds.
func positionOf(question, cursor string) (position string, ok bool) {
	decoded, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(decoded) < digestBytes {
		return "", false
	}
	position = string(decoded[digestBytes:])
	return position, newCursor(question, position) == cursor
}

// page is which part of a list is asked for.
type page struct {
	limit    int
	position string // behind which it begins; "" is the beginning
	question string
}

// The limits of a page: where none is given, and at most.
const (
	usualPage = 100
	mostPage  = 1000
)

// page reads limit and cursor. question tells apart the lists that cursors belong to.
func (a *arguments) page(question ...string) page {
	p := page{limit: usualPage, question: strings.Join(question, "\x01")}
	if g, there := a.one("limit"); there {
		n, err := strconv.Atoi(g.value)
		if err != nil || n < 1 || n > mostPage {
			a.fail(g, fault.Malformed, "a whole number from 1 to "+strconv.Itoa(mostPage))
		}
		p.limit = n
	}
	if g, there := a.one("cursor"); there && len(a.errors) == 0 {
		var ok bool
		if p.position, ok = positionOf(p.question, g.value); !ok {
			a.fail(g, fault.BadCursor, "the member next of an answer to the same question")
		}
	}
	return p
}

// next returns the cursor of the page that follows a position.
func (p page) next(position string) string { return newCursor(p.question, position) }
