// Package capture cuts a stream of baggage messages, as a line printer or a socket recorder leaves them, into single
// messages. It judges none of them and alters no byte of them. It drops blank lines between messages, and the end of a
// message that is longer than [Longest], so that its memory is bounded whatever the stream holds.
package capture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Message is one message of a capture.
type Message struct {
	Text string // as it stands there, with the end of its last line; its beginning if it is longer than Longest
	Line int    // line of the capture on which it begins, 1-based
}

// Longest is how many bytes of a message are kept. It is far above the length of any message that is accepted, so that a
// message that was cut off is still too long.
const Longest = 256 << 10

// known are the standard message identifiers.
var known = []string{"BSM", "BPM", "BTM", "BUM", "BNS", "BCM", "BMM", "BRQ"}

// Reader reads the messages of a capture. A message goes from the end of the one before it to its end line: END
// and an identifier, or ENDPART and digits. What stands behind the last end line is one message more.
type Reader struct {
	src   *bufio.Reader
	lines int    // read
	line  []byte // the last one, with its end: CR LF, LF or CR
	text  []byte // of the message that is being read
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader { return &Reader{src: bufio.NewReaderSize(src, 64<<10)} }

// Next returns the next message, or io.EOF if there is none. After any other error it must not be called again.
func (r *Reader) Next() (Message, error) {
	r.text = r.text[:0]
	var own string // identifier of the message, if it is none of the known ones
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
			case isElement(bare):
				elements = true
			case own == "" && !elements && isIdentifier(bare):
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

// readLine reads the next line. After an error the line is what stands before it.
func (r *Reader) readLine() error {
	r.line = r.line[:0]
	for {
		if _, err := r.src.Peek(1); err != nil {
			return err
		}
		ahead, _ := r.src.Peek(r.src.Buffered()) // no error: they are there
		end := bytes.IndexAny(ahead, "\r\n")
		if end < 0 {
			r.take(ahead)
			continue
		}
		isReturn := ahead[end] == '\r'
		r.take(ahead[:end+1])
		if !isReturn {
			return nil // nothing is waited for behind the end of a line
		}
		if next, err := r.src.Peek(1); err == nil && next[0] == '\n' {
			r.take(next)
		}
		return nil
	}
}

// take moves bytes from the buffer to the line.
func (r *Reader) take(ahead []byte) {
	r.line = appendUpTo(r.line, ahead)
	_, _ = r.src.Discard(len(ahead)) // no error: they are there
}

// appendUpTo appends as many bytes of more as there is room for within Longest.
func appendUpTo(dst, more []byte) []byte {
	return append(dst, more[:min(len(more), Longest-len(dst))]...)
}

// trim takes away what is not part of a line's text: blanks around it, and control characters anywhere.
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

func isElement(line []byte) bool {
	return len(line) >= 2 && line[0] == '.' && isCapital(line[1]) && (len(line) == 2 || line[2] == '/')
}

// ends reports whether a line is an end line, of a known identifier or of the message's own.
func ends(line []byte, own string) bool {
	rest, ok := bytes.CutPrefix(line, []byte("END"))
	if !ok {
		return false
	}
	if digits, ok := bytes.CutPrefix(rest, []byte("PART")); ok {
		return len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
	}
	return len(rest) > 0 && string(rest) == own || slices.Contains(known, string(rest))
}

func isIdentifier(line []byte) bool {
	return len(line) == 3 && isCapital(line[0]) && isCapital(line[1]) && isCapital(line[2])
}

func isCapital(b byte) bool { return b >= 'A' && b <= 'Z' }
