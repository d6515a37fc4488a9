package web

import (
	"net/url"
	"slices"
	"strings"
)

// skeleton is the template of an operation's path, taken apart:
// /baggage/history/v1.0/tag/{bagtag}/flightdate/{flight_date} has the prefix baggage, history, v1.0 and the names tag, flightdate.
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

// base is the prefix as a path without slash at its end.
func (s skeleton) base() string { return "/" + strings.Join(s.prefix, "/") }

// match reads a path: the value behind each name, appended to dst, "" where name or value is missing or blank.
//
// Missing means cut off, left out, blank, or crowded out by a later name. A segment behind a blank one that is no name
// is taken for the orphan of that blank and passed over. Blank segments at the end do not count. Anything else that
// is no name where a name is due makes ok false: the path is not of this operation.
func (s skeleton) match(segments, dst []string) (values []string, ok bool) {
	if len(segments) < len(s.prefix) || !slices.Equal(segments[:len(s.prefix)], s.prefix) {
		return dst, false
	}
	segments = segments[len(s.prefix):]
	first := len(dst)
	for range s.names {
		dst = append(dst, "")
	}
	values, next, afterBlank := dst[first:], 0, false
	for i := 0; i < len(segments); i++ {
		if blank(segments[i]) {
			afterBlank = true
			continue
		}
		ahead := slices.Index(s.names[next:], segments[i])
		if ahead < 0 {
			if !afterBlank || next == len(s.names) {
				return dst, false
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
	return dst, true
}

// blank reports whether a segment holds nothing but blanks.
func blank(segment string) bool { return strings.TrimSpace(segment) == "" }

// split returns the segments of a path, each decoded for itself, so that an encoded slash is part of its segment.
func split(u *url.URL, dst []string) []string {
	path, encoded := u.Path, false
	if u.RawPath != "" && u.EscapedPath() == u.RawPath {
		path, encoded = u.RawPath, true
	}
	for rest, more := strings.TrimPrefix(path, "/"), true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if encoded {
			// EscapedPath has just decoded the whole, so the part cannot fail.
			segment, _ = url.PathUnescape(segment)
		}
		dst = append(dst, segment)
	}
	return dst
}
