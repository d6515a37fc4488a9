package parser_test

import (
	"testing"

	"bagtrail/parser"
)

func TestWeight(t *testing.T) {
	for element, want := range map[string]parser.Weight{
		".W/K/2/20":                   {Unit: "K", Pieces: 2, Checked: 20},
		".W/L/002/00044":              {Unit: "L", Pieces: 2, Checked: 44},
		".W/K/0/0/":                   {Unit: "K", Pieces: 0, Checked: 0},
		".W/K/999/99999/7/CM/1/2/3/X": {Unit: "K", Pieces: 999, Checked: 99999},
		".W/P/1":                      {Unit: "P", Pieces: 1, Checked: -1},
		".W/P/1/20":                   {Unit: "P", Pieces: 1, Checked: -1},
		".W/P/1/heavy":                {Unit: "P", Pieces: 1, Checked: -1},
	} {
		m := parse(t, bsm(element))
		equal(t, element, m.Groups[0].Weight, want)
		equal(t, "warnings of "+element, len(m.Warnings), 0)
	}
	equal(t, "no .W", parse(t, bsm()).Groups[0].Weight, parser.Weight{Pieces: -1, Checked: -1})
}

func TestWeight025WarnsAndTheBadValuesAreNotStored(t *testing.T) {
	for element, want := range map[string]parser.Weight{
		".W/{025:G}/2/20":     {Pieces: 2, Checked: -1},
		".W/{025:k}/2/20":     {Pieces: 2, Checked: -1},
		".W/{025:KG}/2/20":    {Pieces: 2, Checked: -1},
		".W/{025:}/2/20":      {Pieces: 2, Checked: -1},
		".W/{025: K}/2/20":    {Pieces: 2, Checked: -1},
		".W/{025:}":           {Pieces: -1, Checked: -1},
		".W{025:}":            {Pieces: -1, Checked: -1},
		".W/K/{025:}":         {Unit: "K", Pieces: -1, Checked: -1},
		".W/K/{025:}/20":      {Unit: "K", Pieces: -1, Checked: 20},
		".W/K/{025:1000}/20":  {Unit: "K", Pieces: -1, Checked: 20},
		".W/L/{025:two}/20":   {Unit: "L", Pieces: -1, Checked: 20},
		".W/P/{025:-1}":       {Unit: "P", Pieces: -1, Checked: -1},
		".W/P{025:}":          {Unit: "P", Pieces: -1, Checked: -1},
		".W/K/2{025:}":        {Unit: "K", Pieces: 2, Checked: -1},
		".W/K/2/{025:}":       {Unit: "K", Pieces: 2, Checked: -1},
		".W/K/2/{025:20.5}":   {Unit: "K", Pieces: 2, Checked: -1},
		".W/L/2/{025:100000}": {Unit: "L", Pieces: 2, Checked: -1},
		".W/K/{025:X}/X":      {Unit: "K", Pieces: -1, Checked: -1},
	} {
		m := parse(t, bsm(element))
		equal(t, element, m.Groups[0].Weight, want)
		equal(t, "accepted with "+element, m.Accepted(), true)
		parse(t, bpm(element))
	}
}

func TestWeightFirstOfTheGroupCountsAndAllAreJudged(t *testing.T) {
	m := parse(t, bsm(".W/K/1/10", ".W/K/2/20", ".W/{025:X}/3/30", ".W/{025:Y}/3/30"))
	equal(t, "weight", m.Groups[0].Weight, parser.Weight{Unit: "K", Pieces: 1, Checked: 10})
}

func TestWeightWarningsStandBesideErrors(t *testing.T) {
	m := parse(t, bsm(".W/{025:X}/3/30", ".F/LX14/{022:31APR}/JFK", ".W/{025:X}/3/30"))
	equal(t, "errors", len(m.Errors), 1)
	equal(t, "warnings", len(m.Warnings), 2)
}
