// Package strictjson writes JSON strings and reads strict JSON objects.
//
// It does not map JSON to Go types, except for Encode. A string that it writes is valid JSON
// whatever bytes it is made from, and safe inside a script: '<', '>', '&', U+2028 and U+2029 are
// escaped, and bytes that are not UTF-8 become U+FFFD. It reads RFC 8259 to the letter: UTF-8
// without a byte order mark, no lone surrogates, nothing after the end.
package strictjson

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// plain marks the ASCII bytes that AppendString does not escape.
var plain = func() (t [256]bool) {
	for b := 0x20; b < utf8.RuneSelf; b++ {
		t[b] = true
	}
	for _, b := range `"\<>&` {
		t[b] = false
	}
	return t
}()

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string with its quotes.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		if plain[s[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r < utf8.RuneSelf || r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			dst = appendEscape(append(dst, s[done:i]...), r)
			done = i + size
		}
		i += size
	}
	return append(append(dst, s[done:]...), '"')
}

// AppendComma appends a comma, unless dst ends with the bracket that opens a list or an object.
func AppendComma(dst []byte) []byte {
	if n := len(dst); n > 0 && (dst[n-1] == '[' || dst[n-1] == '{') {
		return dst
	}
	return append(dst, ',')
}

// AppendText appends a member of an object. It and the functions below first append a comma, unless
// the member is the first. Names are written as they are.
func AppendText(dst []byte, name, value string) []byte {
	return AppendString(AppendName(dst, name), value)
}

// AppendMember is AppendText, but appends nothing if the value is "".
func AppendMember(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	return AppendText(dst, name, value)
}

// AppendNumber appends a member, or nothing if the value is negative.
func AppendNumber[N int | int32 | int64](dst []byte, name string, value N) []byte {
	if value < 0 {
		return dst
	}
	return strconv.AppendInt(AppendName(dst, name), int64(value), 10)
}

// AppendBool appends a member.
func AppendBool(dst []byte, name string, value bool) []byte {
	return strconv.AppendBool(AppendName(dst, name), value)
}

// Millis is the layout of a time with milliseconds, as time.RFC3339 is the layout without.
const Millis = "2006-01-02T15:04:05.000Z07:00"

// AppendTime appends a member that is a time in its zone, in a layout of package time.
func AppendTime(dst []byte, name string, at time.Time, layout string) []byte {
	dst = append(AppendName(dst, name), '"')
	return append(at.AppendFormat(dst, layout), '"')
}

// AppendInstant appends a member that is a time in UTC with milliseconds, or nothing if the time is
// zero.
func AppendInstant(dst []byte, name string, at time.Time) []byte {
	if at.IsZero() {
		return dst
	}
	return AppendTime(dst, name, at.UTC(), Millis)
}

// AppendTexts appends a member that is a list of strings.
func AppendTexts[S ~string](dst []byte, name string, list []S) []byte {
	dst = append(AppendName(dst, name), '[')
	for _, text := range list {
		dst = AppendString(AppendComma(dst), string(text))
	}
	return append(dst, ']')
}

// AppendGroup appends a member that is an object or a list, between its two brackets. If items
// appends nothing, neither does AppendGroup.
func AppendGroup(dst []byte, name, brackets string, items func([]byte) []byte) []byte {
	group := append(AppendName(dst, name), brackets[0])
	empty := len(group)
	if group = items(group); len(group) == empty {
		return dst
	}
	return append(group, brackets[1])
}

// AppendName appends the name of a member and a colon.
func AppendName(dst []byte, name string) []byte {
	return append(append(append(AppendComma(dst), '"'), name...), '"', ':')
}

func appendEscape(dst []byte, r rune) []byte {
	if i := strings.IndexRune("\"\\\n\r\t", r); i >= 0 {
		return append(dst, '\\', `"\nrt`[i])
	}
	return append(dst, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&0xf], hexDigits[r>>4&0xf], hexDigits[r&0xf])
}

// Encode returns v as encoding/json writes it. It panics if v holds something that JSON cannot
// express, such as a function: that is a defect of the program.
func Encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
