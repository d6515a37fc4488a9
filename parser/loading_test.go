package parser_test

import (
	"testing"

	"bagtrail/parser"
)

func TestLoading(t *testing.T) {
	aa := parser.Flight{Airline: "AA", Number: "1714", Date: date(13, 3), Airport: "BOS"}
	for element, want := range map[string]parser.Loading{
		".U":                                {Present: true},
		".U/":                               {Present: true},
		".U/AKE25219OZ/TPE/X/Y/ICN///":      {Present: true, Stowage: parser.Stowage{Device: "AKE25219OZ", Compartment: "TPE"}},
		".U/AKE25219OZ":                     {Present: true, Stowage: parser.Stowage{Device: "AKE25219OZ"}},
		".U//41":                            {Present: true, Stowage: parser.Stowage{Compartment: "41"}},
		".U/ BULK / 5H ":                    {Present: true, Stowage: parser.Stowage{Device: "BULK", Compartment: "5H"}},
		".U/A/1/B/J/JFK/Y/AA1714/13MAR/BOS": {Present: true, Stowage: parser.Stowage{Device: "A", Compartment: "1"}, Connection: aa},
		".U///////AA1714/13mar/BOS/":        {Present: true, Connection: aa},
		".U///////AA1714":                   {Present: true, Connection: parser.Flight{Airline: "AA", Number: "1714"}},
		".U///////AA1714//BOS":              {Present: true, Connection: parser.Flight{Airline: "AA", Number: "1714", Airport: "BOS"}},
	} {
		equal(t, element, parse(t, bpm(element)).Groups[0].Loading, want)
		equal(t, element+" of a BSM", parse(t, bsm(element)).Groups[0].Loading, want)
	}
	equal(t, "no .U", parse(t, bpm()).Groups[0].Loading, parser.Loading{})
}

func TestLoadingFaultyFieldsAreIgnored(t *testing.T) {
	for element, want := range map[string]parser.Loading{
		".U/AKE25219OZX/41":          {Present: true, LongDevice: true, Stowage: parser.Stowage{Compartment: "41"}},
		".U/AKE25219OZ/123456":       {Present: true, Stowage: parser.Stowage{Device: "AKE25219OZ"}},
		".U///////A/13MAR/BOS":       {Present: true},
		".U////////13MAR/BOS":        {Present: true},
		".U///////AA1714/31FEB/QQQ":  {Present: true, Connection: parser.Flight{Airline: "AA", Number: "1714"}},
		".U///////AA1714/13MAR26/BO": {Present: true, Connection: parser.Flight{Airline: "AA", Number: "1714"}},
	} {
		equal(t, element, parse(t, bpm(element)).Groups[0].Loading, want)
	}
}

func TestLoadingFirstOfTheGroupCounts(t *testing.T) {
	m := parse(t, bpm(".U/AKE1LX", ".U/AKE2LX/41"))
	equal(t, "loading", m.Groups[0].Loading, parser.Loading{Present: true, Stowage: parser.Stowage{Device: "AKE1LX"}})
	m = parse(t, bpm(".U", ".U/AKE2LX/41"))
	equal(t, "loading behind a bare one", m.Groups[0].Loading, parser.Loading{Present: true})
}
