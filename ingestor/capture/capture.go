// Package capture splits a stream of baggage messages, such as the record of a line printer or a
// socket, into single messages. Each message ends with its end line; the last one may end with the
// stream instead. The package does not judge messages. It drops lines between messages that hold
// only blanks and control characters, and cuts a message at [Longest] bytes, so that its memory is
// bounded. It changes nothing else.
package capture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"bagtrail/parser"
)

// Message is a message of a capture.
type Message struct {
	Text string // with the end of its last line; cut if it is longer than Longest
	Line int    // 1-based number of the line of the capture on which Text begins
}

// Longest is the number of bytes to which a message is cut. No message of this length is accepted.
const Longest = 256 << 10

// Reader reads the messages of a capture. A message ends with its end line: END and an identifier,
// or ENDPART and digits. Text after the last end line is one more message.
type Reader struct {
	src   *bufio.Reader
	lines int    // how many lines were read
	line  []byte // the last line, with its end: CR LF, LF or CR
	text  []byte // of the current message
}

// NewReader returns a Reader.
func NewReader(src io.Reader) *Reader { return &Reader{src: bufio.NewReaderSize(src, 64<<10)} }

// Next returns the next message, or io.EOF. After any other error it must not be called again.
func (r *Reader) Next() (Message, error) {
	r.text = r.text[:0]
	var own string // the first line of three capitals before any element: the identifier, even if it is not a known one
	elements := false
	start := 0
	for {
		err := r.readLine()
		if len(r.line) > 0 {
			r.lines++
			bare := trim(r.line)
			if len(r.text) == 0 {
				if len(bare) == 0 && len(r.line) < Longest {
					continue
				}
				start = r.lines
			}
			r.text = appendUpTo(r.text, r.line)
			switch {
			case ends(bare, own):
				return Message{string(r.text), start}, nil
			case parser.IsElement(string(bare)):
				elements = true
			case own == "" && !elements && parser.IsThreeCapitals(string(bare)):
				own = string(bare)
			}
		}
		switch {
		case errors.Is(err, io.EOF) && len(r.text) > 0:
			return Message{string(r.text), start}, nil
		case errors.Is(err, io.EOF):
			return Message{}, io.EOF
		case err != nil:
			return Message{}, fmt.Errorf("read capture at line %d: %w", r.lines+1, err)
		}
	}
}

// readLine reads the next line. After an error, r.line holds the part before it.
func (r *Reader) readLine() error {
	r.line = r.line[:0]
	for {
		b, err := r.src.ReadByte()
		if err != nil {
			return err
		}
		r.line = appendUpTo(r.line, []byte{b})
		switch b {
		case '\n':
			return nil // without waiting for the next byte
		case '\r':
			if next, _ := r.src.Peek(1); string(next) != "\n" { // after an error, the next ReadByte reads src again
				return nil
			}
		}
	}
}

// appendUpTo appends more, but cuts the result at Longest bytes.
func appendUpTo(dst, more []byte) []byte {
	return append(dst, more[:min(len(more), Longest-len(dst))]...)
}

// trim removes the line end, blanks around the line, and all control characters except tabs within
// it.
func trim(line []byte) []byte {
	line = bytes.TrimRight(line, "\r\n")
	if bytes.ContainsFunc(line, isControl) {
		line = bytes.Map(func(r rune) rune {
			if isControl(r) && r != '\t' {
				return -1
			}
			return r
		}, line)
	}
	return bytes.TrimSpace(line)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// ends reports whether a line is an end line: of any known identifier, or of own, the identifier of
// the message.
func ends(line []byte, own string) bool {
	rest, ok := bytes.CutPrefix(line, []byte("END"))
	if !ok {
		return false
	}
	if digits, ok := bytes.CutPrefix(rest, []byte("PART")); ok {
		return len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
	}
	return len(rest) > 0 && string(rest) == own || parser.KnownIdentifier(string(rest))
}
