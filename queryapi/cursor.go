package queryapi

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"bagtrail/internal/fault"
)

// A cursor encodes a digest of question and position, followed by the position in the list that
// answers the question. The digest detects a cursor of another question. A cursor grants no rights:
// each page is limited to the scope of the key that asks for it. It contains no name and no PNR.

// digestBytes is the length of the truncated digest in bytes. It detects mistakes, not forgery: a
// caller who forges a cursor only chooses where the page begins.
const digestBytes = 6

// page is the part of a list that the caller asks for.
type page struct {
	limit    int
	position string // the page begins after it; "" is the beginning of the list
	question string // without a NUL
}

// The default and the largest number of entries on a page.
const (
	usualPage = 100
	maxPage   = 1000
)

// page reads limit and cursor. question identifies the list, so that a cursor is not used with
// another one.
func (a *arguments) page(question ...string) page {
	p := page{limit: a.number("limit", usualPage, 1, maxPage), question: strings.Join(question, "\x01")}
	if g, there := a.one("cursor"); there {
		decoded, err := base64.RawURLEncoding.DecodeString(g.value)
		ok := err == nil && len(decoded) >= digestBytes
		if ok {
			p.position = string(decoded[digestBytes:])
		}
		if len(a.errors) == 0 { // otherwise the question is unknown, and the digest cannot be checked
			ok = ok && p.next(p.position) == g.value
		}
		if !ok {
			a.fail(g, fault.BadCursor, "the member next of an answer to the same question")
		}
	}
	return p
}

// next returns the cursor of the page that follows a position, which must not contain a NUL.
func (p page) next(position string) string {
	sum := sha256.Sum256([]byte(p.question + "\x00" + position))
	return base64.RawURLEncoding.EncodeToString(append(sum[:digestBytes], position...))
}
