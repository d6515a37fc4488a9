package web

import (
	"net/url"
	"slices"
	"strings"
)

// skeleton is the template of an operation's path, split into parts:
// /baggage/history/v1.0/tag/{bagtag}/flightdate/{flight_date} has the prefix baggage, history, v1.0
// and the names tag, flightdate.
type skeleton struct {
	prefix []string
	names  []string
}

func parseTemplate(template string) skeleton {
	var s skeleton
	parts := strings.Split(strings.Trim(template, "/"), "/")
	for i, part := range parts {
		switch {
		case strings.HasPrefix(part, "{"):
		case i+1 < len(parts) && strings.HasPrefix(parts[i+1], "{"):
			s.names = append(s.names, part)
		default:
			s.prefix = append(s.prefix, part)
		}
	}
	return s
}

// base returns the prefix as a path without a final slash.
func (s skeleton) base() string { return "/" + strings.Join(s.prefix, "/") }

// match reads a path. It returns the value after each name, or "" if name or value is missing or
// blank.
//
// A value is missing if the path ends before it, if it is left out or blank, or if a later name is
// in its place. A segment that follows a blank one and is not a name counts as a value whose name
// is blank, and is skipped. Blank segments at the end are ignored. If any other segment is in the
// place of a name, ok is false: the path does not belong to this operation.
func (s skeleton) match(segments []string) (values []string, ok bool) {
	if len(segments) < len(s.prefix) || !slices.Equal(segments[:len(s.prefix)], s.prefix) {
		return nil, false
	}
	segments = segments[len(s.prefix):]
	values, next, afterBlank := make([]string, len(s.names)), 0, false
	for i := 0; i < len(segments); i++ {
		if blank(segments[i]) {
			afterBlank = true
			continue
		}
		ahead := slices.Index(s.names[next:], segments[i])
		if ahead < 0 {
			if !afterBlank || next == len(s.names) {
				return nil, false
			}
			afterBlank = false
			continue
		}
		next += ahead + 1
		afterBlank = false
		if i+1 < len(segments) && !blank(segments[i+1]) && !slices.Contains(s.names[next:], segments[i+1]) {
			i++
			values[next-1] = segments[i]
		}
	}
	return values, true
}

// blank reports whether a segment is empty or has only blanks.
func blank(segment string) bool { return strings.TrimSpace(segment) == "" }

// split returns the segments of a path. It decodes each segment separately, so that an encoded
// slash is part of its segment.
func split(u *url.URL) []string {
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	for i := range segments {
		segments[i], _ = url.PathUnescape(segments[i]) // EscapedPath is valid
	}
	return segments
}
