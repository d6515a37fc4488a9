package parser

import (
	"reflect"
	"strings"
	"testing"
)

// everywhere knows all airports but QQQ, and the statuses OFF and, at ZRH, LCK.
type everywhere struct{}

func (everywhere) KnownAirport(code string) bool { return code != "QQQ" }
func (everywhere) KnownStatus(airport, code string) bool {
	return code == "OFF" || code == "LCK" && airport == "ZRH"
}

// FuzzStraight holds the short way of reading a message against the long one.
func FuzzStraight(f *testing.F) {
	const head, flight, tag = "BSM\n.V/1LZRH\n", ".F/LX14/12MAR/JFK\n", ".N/0724123456001\n"
	for _, text := range []string{
		head + flight + tag + "ENDBSM", head + "CHG\n" + flight + tag + "ENDBSM\n", "BSM\nDEL\n.V/1LZRH\n" + flight + tag + "ENDBSM\r\n",
		"BPM\n.V/1LZRH\n" + flight + ".B/LCK/0724123456001\nENDPART7\n", "BPM\n.B/LCK/0724123456001\n.V/1LZRH\n",
		"BPM\n.V/2LQQQ\n.V/1LZRH\n.B/LCK/0724123456001\n.J", "BSM\nABC\nBPM\n" + flight, head + flight + tag + "ENDBSM\n.R/A",
		head + flight + "BSM\n" + tag + "ENDBSM", "BUM\n" + flight, "", "BSM", "BPM\n.N", "XYZ\nBPM\n.V/1LZRH\n" + tag,
		head + ".P/2A B / C DMRS \n" + flight + tag + ".R/FREE TEXT  \nENDBSM", head + flight + ".1/A\n./\n.MUCXXLH 121314\n" + tag + "ENDBSM",
		"QU LONRMBA\n.ZRHXXLX 201200\n" + head + flight + tag + "ENDBSM", head + ".ZRHXXLX 201200\n" + flight + tag + "ENDBSM",
		"BSM\n.ZRHXXLX 201200\n" + head + flight + tag + "ENDBSM", "\x01.ZRHXXLX 201200\n\x02" + head + flight + tag + "ENDBSM\x03",
		head + ".U/AKE1/2/" + strings.Repeat("X", 70) + "/B/C/D/LX1/12MAR/JFK\n" + flight + tag + "ENDBSM", head + "\x03" + flight + tag + "ENDBSM",
	} {
		f.Add(text)
		f.Add(strings.ReplaceAll(text, "\n", "\r\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var short, long Message
		short.Parse(text, everywhere{})
		long.reset(everywhere{})
		long.scratch.outline.mark(text)
		long.readAnyhow()
		long.place(text)
		got, returns := short.Canonical()
		if returns {
			got = strings.ReplaceAll(got, "\r\n", "\n")
		}
		if want, _ := long.Canonical(); got != want {
			t.Errorf("canonical text %q, want %q", got, want)
		}
		short.scratch, long.scratch = scratch{}, scratch{}
		if !reflect.DeepEqual(plain(short), plain(long)) {
			t.Errorf("%q:\n%+v, want\n%+v", text, short, long)
		}
	})
}

// plain is a message in which an empty list is none.
func plain(m Message) Message {
	if len(m.Errors) == 0 {
		m.Errors = nil
	}
	if len(m.Warnings) == 0 {
		m.Warnings = nil
	}
	if len(m.Groups) == 0 {
		m.Groups = nil
	}
	return m
}

// The usual message takes the short way; else nobody would notice that it does not.
func TestUsualMessagesAreReadStraight(t *testing.T) {
	const text = "BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\n.P/1BRUNNER/ANNA MARIAMRS\nENDBSM"
	for _, text := range []string{text, text + "\n", strings.ReplaceAll(text, "\n", "\r\n"), strings.ReplaceAll(text, "BSM", "BPM")} {
		var m Message
		m.reset(everywhere{})
		m.scratch.outline.mark(text)
		if !m.readStraight() {
			t.Errorf("%q is not", text)
		}
	}
}
