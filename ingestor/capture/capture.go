// Package capture cuts a stream of baggage messages, as a line printer or a socket recorder leaves them, into single
// messages. It judges none of them, alters no byte of them, and drops nothing but blank lines between them.
package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Message is one message of a capture.
type Message struct {
	Text string // as it stands there, with the end of its last line
	Line int    // line of the capture on which it begins, 1-based
}

// ErrEndless is returned where so much stands between two end lines that it is no capture.
var ErrEndless = errors.New("no end line")

// longest is how many bytes may stand between two end lines. It is far above the longest message that is accepted,
// so that one that is too long is still told apart from the next.
const longest = 4 << 20

// known are the standard message identifiers.
var known = []string{"BSM", "BPM", "BTM", "BUM", "BNS", "BCM", "BMM", "BRQ"}

// Reader reads the messages of a capture. A message goes from the end of the one before it to its end line: END
// and an identifier, or ENDPART and digits. What stands behind the last end line is one message more.
type Reader struct {
	src  *bufio.Reader
	line int // lines read
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader { return &Reader{src: bufio.NewReaderSize(src, 64<<10)} }

// Next returns the next message, or io.EOF where there is none. After any other error it must not be called again.
func (r *Reader) Next() (Message, error) {
	var text strings.Builder
	var own string // identifier of the message, where it is none of the known ones
	elements := false
	start := 0
	for {
		line, err := r.readLine()
		if line != "" {
			r.line++
			bare := trim(line)
			if text.Len() == 0 {
				if bare == "" {
					continue
				}
				start = r.line
			}
			text.WriteString(line)
			switch {
			case ends(bare, own):
				return Message{text.String(), start}, nil
			case isElement(bare):
				elements = true
			case own == "" && !elements && isIdentifier(bare):
				own = bare
			}
			if text.Len() > longest {
				return Message{}, fmt.Errorf("capture from line %d on: %w within %d bytes", start, ErrEndless, longest)
			}
		}
		switch {
		case errors.Is(err, io.EOF) && text.Len() > 0:
			return Message{text.String(), start}, nil
		case errors.Is(err, io.EOF):
			return Message{}, io.EOF
		case err != nil:
			return Message{}, fmt.Errorf("read capture at line %d: %w", r.line+1, err)
		}
	}
}

// readLine returns the next line with its end: CR LF, LF or CR. A line that is longer than a capture may be is
// returned in pieces.
func (r *Reader) readLine() (string, error) {
	var line []byte
	for {
		b, err := r.src.ReadByte()
		if err != nil {
			return string(line), err
		}
		line = append(line, b)
		if b == '\n' || len(line) > longest {
			return string(line), nil
		}
		if b == '\r' {
			if next, err := r.src.Peek(1); err == nil && next[0] == '\n' {
				continue
			}
			return string(line), nil
		}
	}
}

// trim takes away what is not part of a line's text: blanks around it, and control characters anywhere.
func trim(line string) string {
	if strings.ContainsFunc(line, isControl) {
		line = strings.Map(func(r rune) rune {
			if isControl(r) && r != '\t' {
				return -1
			}
			return r
		}, line)
	}
	return strings.TrimSpace(line)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func isElement(line string) bool {
	return len(line) >= 2 && line[0] == '.' && isCapital(line[1]) && (len(line) == 2 || line[2] == '/')
}

// ends reports whether a line is an end line, of a known identifier or of the message's own.
func ends(line, own string) bool {
	rest, ok := strings.CutPrefix(line, "END")
	if !ok {
		return false
	}
	if digits, ok := strings.CutPrefix(rest, "PART"); ok {
		return digits != "" && strings.Trim(digits, "0123456789") == ""
	}
	return rest != "" && rest == own || slices.Contains(known, rest)
}

func isIdentifier(line string) bool {
	return len(line) == 3 && isCapital(line[0]) && isCapital(line[1]) && isCapital(line[2])
}

func isCapital(b byte) bool { return b >= 'A' && b <= 'Z' }
