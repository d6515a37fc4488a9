package config

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Effective is a configuration without faults, and the source of each value.
type Effective struct {
	*Config
	settings []setting
}

// String returns every setting as a line of YAML that [Load] can read. A comment at its end names
// the variable and the source of the value. Secrets are masked.
func (e *Effective) String() string {
	lines, width := make([]string, len(e.settings)), 0
	for i, s := range e.settings {
		text := s.given.text
		if s.secret {
			text = masked(text)
		}
		lines[i] = key(s.name) + ": " + scalar(text)
		width = max(width, min(len(lines[i]), 50))
	}
	var out strings.Builder
	for i, s := range e.settings {
		fmt.Fprintf(&out, "%-*s  # %s, %s\n", width, lines[i], variable(s.name), cmp.Or(s.given.source, "default"))
	}
	return out.String()
}

var plainScalar = regexp.MustCompile(`^[A-Za-z0-9./][A-Za-z0-9_./:,@%?&=+*-]*$`)

// scalar writes text as a YAML scalar.
func scalar(text string) string {
	if plainScalar.MatchString(text) && !strings.HasSuffix(text, ":") && !strings.EqualFold(text, "null") {
		return text
	}
	return strconv.Quote(text)
}

// mask replaces a secret.
const mask = "********"

// masked hides a secret. In a URL it replaces the user or, if there is one, the password, and the
// values of query parameters that hold secrets. It replaces any other text as a whole. The empty
// text stays empty.
func masked(secret string) string {
	if secret == "" {
		return ""
	}
	scheme, rest, isURL := strings.Cut(secret, "://")
	if !isURL {
		return mask
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		user, _, hasPassword := strings.Cut(rest[:at], ":")
		if hasPassword {
			user += ":"
		} else {
			user = ""
		}
		rest = user + mask + rest[at:]
	}
	if place, query, found := strings.Cut(rest, "?"); found {
		rest = place + "?" + maskQuery(query)
	}
	return scheme + "://" + rest
}

var secretMember = regexp.MustCompile(`(?i)pass|pwd|secret|token|key|auth|sig|code|cred`)

func maskQuery(query string) string {
	members := strings.Split(query, "&")
	for i, member := range members {
		name, _, _ := strings.Cut(member, "=")
		if plain, err := url.QueryUnescape(name); err != nil || secretMember.MatchString(plain) {
			members[i] = name + "=" + mask
		}
	}
	return strings.Join(members, "&")
}

// quote returns the given text in quotation marks, and a blank, for the text of a fault. For a
// secret it returns "".
func (s setting) quote() string {
	if s.secret {
		return ""
	}
	return strconv.Quote(s.given.text) + " "
}
