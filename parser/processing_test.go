package parser_test

import (
	"testing"

	"bagtrail/parser"
)

func TestProcessing(t *testing.T) {
	for element, want := range map[string]parser.Processing{
		".J/S/BGFUSION/CI621/05FEB/1059L/LB9/LB8": {Present: true, Code: 'S', Date: date(5, 2), HasTime: true, Seconds: 10*3600 + 59*60, ReadLocation: "LB9", SentLocation: "LB8"},
		".J/R///18APR/105210Z/TIAT2/":             {Present: true, Code: 'R', Date: date(18, 4), HasTime: true, HasSeconds: true, Seconds: 10*3600 + 52*60 + 10, UTC: true, ReadLocation: "TIAT2"},
		".J/G///18apr/0000L":                      {Present: true, Code: 'G', Date: date(18, 4), HasTime: true},
		".J/G///18apr/000000L":                    {Present: true, Code: 'G', Date: date(18, 4), HasTime: true, HasSeconds: true},
		".J/H":                                    {Present: true, Code: 'H'},
		".J/Q":                                    {Present: true, Code: 'Q'},
		".J":                                      {Present: true},
		".J/":                                     {Present: true},
		".J/ H / A / B / 18APR / 235959Z / C 1 / D ": {Present: true, Code: 'H', Date: date(18, 4), HasTime: true, HasSeconds: true, Seconds: 86399, UTC: true, ReadLocation: "C 1", SentLocation: "D"},
	} {
		equal(t, element, parse(t, bpm(element)).Processing, want)
	}
	equal(t, "no .J", parse(t, bpm()).Processing, parser.Processing{})
	equal(t, ".J of a BSM", parse(t, bsm(".J/S")).Processing.Code, byte('S'))
}

func TestProcessingFaultyFieldsAreIgnored(t *testing.T) {
	sent := parser.Processing{Present: true, Code: 'S', Date: date(5, 2), HasTime: true, Seconds: 3600, ReadLocation: "A"}
	without := func(edit func(*parser.Processing)) parser.Processing {
		p := sent
		edit(&p)
		return p
	}
	noCode := without(func(p *parser.Processing) { p.Code = 0 })
	noDate := without(func(p *parser.Processing) { p.Date = parser.Date{} })
	noTime := without(func(p *parser.Processing) { p.HasTime, p.Seconds = false, 0 })

	for element, want := range map[string]parser.Processing{
		".J/S///05FEB/0100L/A":    sent,
		".J/s///05FEB/0100L/A":    noCode,
		".J/SS///05FEB/0100L/A":   noCode,
		".J/1///05FEB/0100L/A":    noCode,
		".J/S///31FEB/0100L/A":    noDate,
		".J/S///5FEB/0100L/A":     noDate,
		".J/S///05FEB26/0100L/A":  noDate,
		".J/S///05FEB/0100/A":     noTime,
		".J/S///05FEB/0100X/A":    noTime,
		".J/S///05FEB/0100l/A":    noTime,
		".J/S///05FEB/100L/A":     noTime,
		".J/S///05FEB/01000L/A":   noTime,
		".J/S///05FEB/0100000L/A": noTime,
		".J/S///05FEB/2400L/A":    noTime,
		".J/S///05FEB/0060L/A":    noTime,
		".J/S///05FEB/010060L/A":  noTime,
		".J/S///05FEB/01 0L/A":    noTime,
		".J/S///05FEB/01000AL/A":  noTime,
		".J/S///05FEB/L/A":        noTime,
	} {
		equal(t, element, parse(t, bpm(element)).Processing, want)
	}
}

func TestProcessingFirstOfTheMessageCounts(t *testing.T) {
	m := parse(t, bpm(".N/0724123450001", ".J/G", ".L/QK7R2M", ".N/0724123451001", ".J/S///05FEB/0100L", ".F/LX1/12MAR/LHR", ".J/H"))
	equal(t, "processing", m.Processing, parser.Processing{Present: true, Code: 'G'})
	equal(t, "one that is bare counts too", parse(t, bpm(".J", ".J/S")).Processing, parser.Processing{Present: true})
}
