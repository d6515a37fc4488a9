package codec_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore/codec"
	"bagtrail/internal/simulate"
)

const plate = "0220123456"

var received = time.Date(2026, 11, 21, 9, 15, 30, 123e6, time.UTC)

// texts are texts of messages, valid and invalid.
func texts(t testing.TB) map[string]string {
	all := map[string]string{
		"empty":                  "",
		"one byte":               "\xff",
		"page and escape":        "\xfc\xff\xfe\x00",
		"NUL before the plate":   "\x00BSM\n.N/" + plate + "001",
		"plate twice":            ".N/" + plate + "001\n.N/" + plate + "001",
		"minimum BSM":            "BSM\n.V/1TZRH\n.F/SR101/18APR/JFK/F\n.N/0085123456003\nENDBSM",
		"CR LF":                  "BSM\r\n.V/1LZRH\r\n.F/LX100/21NOV/JFK/Y\r\n.N/0220123456001\r\nENDBSM\r\n",
		"CR alone":               "BSM\r.V/1LZRH\r.F/LX100/21NOV/JFK/Y\r.N/0220123456001\rENDBSM",
		"mixed line ends":        "BSM\r\n.V/1LZRH\n.F/LX100/21NOV/JFK/Y\r.N/0220123456001\n\rENDBSM\r\n\n\r\r",
		"control and no UTF-8":   "\x01\x02BSM\r\n.V/1LZRH\x00\r\n.P/1M\xdcLLER\xff\x80\r\nENDBSM\x03",
		"plate at its very end":  "BPM\n.N/" + plate,
		"plate cut off":          "BPM\n.N/" + plate[:9],
		"report":                 `{"WTR_DelayedBagsCreateRQ":{"Version":"0.1"}}`,
		"64 KiB of noise":        noise(64 << 10),
		"64 KiB of blanks":       strings.Repeat(" ", 64<<10),
		"10,000 lines":           "BSM\r\n" + strings.Repeat(".R/SOME TEXT\r\n", 10000) + "ENDBSM",
		"1 MiB request document": strings.Repeat(`{"TagType":"0","IssuerCode":"220","TagSequence":"123456"},`, 1<<20/58),
	}
	samples, err := filepath.Glob("../../../../shared/samples/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range samples {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = string(text)
	}
	return all
}

func noise(n int) string {
	b, x := make([]byte, n), uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}

func TestWhatIsWrittenIsReadByteForByte(t *testing.T) {
	c := codec.New()
	for name, text := range texts(t) {
		for _, under := range []string{"", plate, "1234567890"} {
			for _, report := range []bool{false, true} {
				want := bag.Stored{Report: report, Raw: text, Received: received, Position: positions[len(text)%len(positions)]}
				value := string(c.Append([]byte("before"), want, under))[len("before"):]
				raw, got, err := c.Decode([]byte("before"), value, under)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if string(raw) != "before"+text || got.Report != report || got.Position != want.Position || !got.Received.Equal(received) || got.Received.Location() != time.UTC {
					t.Errorf("%s under %q: not what was written", name, under)
				}
				if over := len(value) - len(text); over > 7+15 {
					t.Errorf("%s: value is %d bytes longer than its text", name, over)
				}
			}
		}
	}
}

var positions = []bag.Position{
	{}, {Known: true}, {Known: true, Partition: 11, Offset: 1_234_567}, {Known: true, Partition: math.MaxInt32, Offset: math.MaxInt64},
	{Known: true, Partition: -1, Offset: -1},
}

// No sample has every phrase.
func TestEveryPhraseOfTheDictionaryIsReadByteForByte(t *testing.T) {
	dictionary, err := os.ReadFile("dictionary-1.txt")
	if err != nil {
		t.Fatal(err)
	}
	c, phrases := codec.New(), 0
	for line := range strings.Lines(string(dictionary)) {
		phrase, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"\n", "\r\n"} {
			want := strings.ReplaceAll(phrase+"\nBSM\n", "\n", end)
			value := string(c.Append(nil, bag.Stored{Raw: want, Received: received}, ""))
			if raw, _, err := c.Decode(nil, value, ""); err != nil || string(raw) != want {
				t.Errorf("%q: %q, %v", want, raw, err)
			}
		}
		phrases++
	}
	if phrases != 1020 {
		t.Errorf("%d phrases, want 1020", phrases)
	}
}

func TestEveryPositionIsKept(t *testing.T) {
	c := codec.New()
	for _, want := range positions {
		value := string(c.Append(nil, bag.Stored{Raw: "BSM", Received: received, Position: want}, ""))
		_, got, err := c.Decode(nil, value, "")
		at, errAt := codec.Received(value)
		if err != nil || errAt != nil || got.Position != want || !at.Equal(received) {
			t.Errorf("%+v: got %+v %v, %v %v", want, got.Position, err, at, errAt)
		}
	}
}

func TestEveryReceivedTimeInMillisecondsIsKept(t *testing.T) {
	c := codec.New()
	for _, ms := range []int64{0, -1, 1, 127, 128, received.UnixMilli(), 1 << 41, 1 << 48, math.MaxInt64, math.MinInt64} {
		value := string(c.Append(nil, bag.Stored{Raw: "BSM", Received: time.UnixMilli(ms)}, ""))
		_, got, err := c.Decode(nil, value, "")
		at, errAt := codec.Received(value)
		if err != nil || errAt != nil || got.Received.UnixMilli() != ms || at.UnixMilli() != ms {
			t.Errorf("%d: got %v %v, %v %v", ms, got.Received, at, err, errAt)
		}
	}
}

func TestIdentityDependsOnReceivedTimeKindPositionAndText(t *testing.T) {
	one := bag.Stored{Raw: "BSM", Received: received}
	same := bag.Stored{Raw: "BSM", Received: received.In(time.FixedZone("", 3600))}
	if codec.NewIdentity(one) != codec.NewIdentity(same) {
		t.Error("the zone of the received time, or BSM or BPM, changes the identity")
	}
	for _, other := range []bag.Stored{
		{Raw: "BSM ", Received: received},
		{Raw: "BSM", Received: received.Add(time.Millisecond)},
		{Raw: "BSM", Received: received, Report: true},
		{Raw: "BSM", Received: received, Position: bag.Position{Known: true}},
	} {
		if codec.NewIdentity(one) == codec.NewIdentity(other) {
			t.Errorf("%+v has the identity of %+v", other, one)
		}
	}
}

func TestEveryPositionHasAnIdentityOfItsOwn(t *testing.T) {
	seen := make(map[codec.Identity]bag.Position)
	for _, p := range positions {
		id := codec.NewIdentity(bag.Stored{Raw: "BSM", Received: received, Position: p})
		if other, taken := seen[id]; taken {
			t.Errorf("%+v has the identity of %+v", p, other)
		}
		seen[id] = p
	}
}

// If a later version named fields differently, a replay would store every message twice.
func TestIdentityNeverChanges(t *testing.T) {
	got := codec.NewIdentity(bag.Stored{Raw: "BSM\n.V/1LZRH\nENDBSM", Received: received})
	if want := (codec.Identity{0xdf, 0x8a, 0xe4, 0xa6, 0x9a, 0x12, 0x35, 0xf9}); got != want {
		t.Errorf("got %#v", got)
	}
}

// Values that earlier versions wrote remain readable.
func TestValuesOfOldAreStillRead(t *testing.T) {
	for value, want := range map[string]string{
		"Q\xcb\u05ce\xeb\x9f4\xda)!\x17\xfd\xb4'=\xf5\xfc\x7f\x19\x15\xfe\x8e\xfd\a\x1d\x05\x00\xfe\x10P": "BSM\r\n.V/1LZRH\r\n.F/LX100/21NOV/JFK/Y\r\n.N/0220123456001\r\nENDBSM\r\n",
		"\x00\xcb\u05ce\xeb\x9f4\x80\x81":                            "\x80\x81",
		"\x02\xcb\u05ce\xeb\x9f4\xd8\x04\x04ab\x11\x02\x19\x00J\x01": strings.Repeat("ab", 300),
	} {
		raw, s, err := codec.New().Decode(nil, value, plate)
		if err != nil || string(raw) != want || !s.Received.Equal(received) {
			t.Errorf("%q: got %q, %v, %v", value, raw, s.Received, err)
		}
	}
}

func TestDamagedValuesAreErrors(t *testing.T) {
	c := codec.New()
	good := string(c.Append(nil, bag.Stored{Raw: "BSM\n.V/1LZRH\nENDBSM", Received: received}, ""))
	for name, value := range map[string]string{
		"nothing":             "",
		"head alone":          good[:1],
		"cut in received":     good[:4],
		"unknown packing":     "\x03" + good[1:],
		"unknown line end":    "\x31" + good[1:],
		"endless received":    "\x01" + strings.Repeat("\x80", 20),
		"escape at the end":   good + "\xff",
		"page at the end":     good + "\xfc",
		"plate without a NUL": "\x41" + good[1:],
		"position missing":    "\x08" + good[1:7],
		"offset missing":      "\x08" + good[1:7] + "\x01",
		"partition of 64 bit": "\x08" + good[1:7] + "\xff\xff\xff\xff\xff\x01\x01",
		"S2 of nothing":       "\x02\x00",
		"S2 of 4 GiB":         "\x02\x00\xff\xff\xff\xff\x0f",
		"S2 cut off":          "\x02\x00\x40\x01",
	} {
		if _, _, err := c.Decode(nil, value, ""); !errors.Is(err, codec.ErrDamaged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPackingAllocatesNothing(t *testing.T) {
	c, s, buf := codec.New(), bag.Stored{Raw: texts(t)["CR LF"], Received: received}, make([]byte, 0, 4096)
	value := string(c.Append(nil, s, plate))
	if n := testing.AllocsPerRun(100, func() { c.Append(buf, s, plate) }); n != 0 {
		t.Errorf("Append: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _, _ = c.Decode(buf, value, plate) }); n != 0 {
		t.Errorf("Decode: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { codec.NewIdentity(s) }); n != 0 {
		t.Errorf("NewIdentity: %v allocations", n)
	}
}

// The dictionary was made with another seed and another timetable.
func TestMessagesTakeLittleMoreThanHalfTheirBytes(t *testing.T) {
	raw, packed := measure(codec.New(), unseen(200))
	t.Logf("%.0f bytes a message, %.1f as a value: %.2f×", raw, packed, raw/packed)
	if raw < 2*packed {
		t.Errorf("%.0f bytes take %.1f", raw, packed)
	}
}

func TestALongTextThatRepeatsItselfTakesATenthOfItsBytes(t *testing.T) {
	text := strings.Repeat(`{"TagType":"0","IssuerCode":"220","TagSequence":"123456"},`, 100)
	if n := len(codec.New().Append(nil, bag.Stored{Raw: text, Received: received}, "")); 10*n > len(text) {
		t.Errorf("%d bytes take %d", len(text), n)
	}
}

func unseen(bags int) []simulate.Message {
	return slices.Collect(simulate.Generate(simulate.Options{Seed: 424242, Start: received, Bags: bags, Faults: simulate.DefaultFaults()}, nil))
}

func measure(c *codec.Codec, messages []simulate.Message) (raw, packed float64) {
	for _, m := range messages {
		raw += float64(len(m.Text))
		packed += float64(len(c.Append(nil, bag.Stored{Raw: m.Text, Received: m.Received}, m.Plate)))
	}
	n := float64(len(messages))
	return raw / n, packed / n
}

func FuzzAnyBytesDecodeWithoutPanic(f *testing.F) {
	c := codec.New()
	for _, text := range texts(f) {
		if len(text) < 4096 {
			f.Add(string(c.Append(nil, bag.Stored{Raw: text, Received: received}, plate)), plate)
		}
	}
	f.Fuzz(func(t *testing.T, value, plate string) {
		raw, s, err := c.Decode(nil, value, plate)
		again, s2, err2 := c.Decode(nil, value, plate)
		if string(raw) != string(again) || s != s2 || !errors.Is(err, err2) {
			t.Fatal("two results for the same bytes")
		}
		if err != nil && !errors.Is(err, codec.ErrDamaged) {
			t.Fatal(err)
		}
		_, _ = codec.Received(value)
	})
}

func FuzzAnyTextIsReadAsWritten(f *testing.F) {
	c := codec.New()
	for _, text := range texts(f) {
		if len(text) < 4096 {
			f.Add(text, received.UnixMilli(), true, plate)
		}
	}
	f.Fuzz(func(t *testing.T, text string, ms int64, isReport bool, plate string) {
		s := bag.Stored{Raw: text, Received: time.UnixMilli(ms).UTC()}
		if ms%2 == 0 {
			s.Position = bag.Position{Known: true, Partition: int32(ms >> 8), Offset: ms >> 1}
		}
		if isReport {
			s.Report = true
		}
		raw, got, err := c.Decode(nil, string(c.Append(nil, s, plate)), plate)
		got.Raw = string(raw)
		if err != nil || got != s {
			t.Fatalf("wrote %+v, read %+v, %v", s, got, err)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	c, messages, buf := codec.New(), unseen(50), make([]byte, 0, 8192)
	raw, packed := measure(c, messages)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m := &messages[i%len(messages)]
		buf = c.Append(buf[:0], bag.Stored{Raw: m.Text, Received: m.Received}, m.Plate)
	}
	b.ReportMetric(packed, "B/value")
	b.ReportMetric(raw/packed, "ratio")
}

func BenchmarkDecode(b *testing.B) {
	c, messages, buf := codec.New(), unseen(50), make([]byte, 0, 8192)
	var values []string
	for _, m := range messages {
		values = append(values, string(c.Append(nil, bag.Stored{Raw: m.Text, Received: m.Received}, m.Plate)))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		var err error
		if buf, _, err = c.Decode(buf[:0], values[i%len(values)], messages[i%len(values)].Plate); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewIdentity(b *testing.B) {
	s := bag.Stored{Raw: unseen(1)[0].Text, Received: received}
	b.ReportAllocs()
	for b.Loop() {
		codec.NewIdentity(s)
	}
}
