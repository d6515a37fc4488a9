package parser_test

import (
	"testing"

	"bagtrail/parser"
)

// loaded is a BPM of about 300 bytes with every element that is interpreted, but for .B .I .M .O.
const loaded = "BPM\r\n.V/1LZRH\r\n.J/R/4567/381761/12MAR/183551L/ZRHB2/A61\r\n.F/LX14/12MAR/JFK/J\r\n" +
	".U/AKE12345LX/41/B/J/JFK/Y/AA1714/13MAR/BOS\r\n.N/0724123456002\r\n.S/Y/23A/C/051/0051//Y/A\r\n.W/K/2/38\r\n" +
	".P/1BRUNNER/ANNAMARIAMRS\r\n.L/QK7R2M\r\n.Y/LX992001234567/SEN\r\n.E/PRIO\r\n.X/SEL/CLR///HBS302/HBSLEVEL1\r\n" +
	".R/SHORT CONNECTION AT DESTINATION\r\nENDBPM\r\n"

// BenchmarkParse is compared with BenchmarkScan: a parse may take at most six times as long as a
// loop over every byte.
func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(loaded)))
	b.ReportAllocs()
	var m parser.Message
	for b.Loop() {
		m.Parse(loaded, airports{})
	}
	if !m.Accepted() {
		b.Fatal(m.Errors)
	}
}

// BenchmarkScan counts the line feeds of the same text and sums its bytes.
func BenchmarkScan(b *testing.B) {
	b.SetBytes(int64(len(loaded)))
	for b.Loop() {
		look(loaded)
	}
}

//go:noinline
func look(text string) (lines, sum int) {
	for _, c := range []byte(text) {
		if c == '\n' {
			lines++
		}
		sum += int(c)
	}
	return lines, sum
}

func BenchmarkCanonical(b *testing.B) {
	b.SetBytes(int64(len(loaded)))
	b.ReportAllocs()
	var m parser.Message
	m.Parse(loaded, airports{})
	for b.Loop() {
		m.Canonical()
	}
}
