package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"bagtrail/parser"
)

func TestCodesAreWrittenAsTheInterfaceDoes(t *testing.T) {
	for code, want := range map[parser.Code]string{3: "SVCPRB003", parser.TagLength: "SVCPRB016", 41: "SVCPRB041", 1234: "SVCPRB1234"} {
		equal(t, "code", code.String(), want)
	}
}

func TestCodesAreThoseOfTheInterface(t *testing.T) {
	var numbers []int
	for _, d := range parser.Codes() {
		numbers = append(numbers, int(d.Code))
	}
	equal(t, "codes", numbers, []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 23, 25, 27, 39, 40, 41})
}

func TestCodeExamplesGiveTheirCodeAlone(t *testing.T) {
	for _, d := range parser.Codes() {
		t.Run(d.Code.String(), func(t *testing.T) {
			if d.Code == parser.MissingTagsAlias {
				alias, _ := parser.MissingTags.Definition()
				equal(t, "text of the alias", d.Text, alias.Text)
				equal(t, "example of the alias", d.Example, "")
				return
			}
			before, after, marked := strings.Cut(d.Example, "^")
			if !marked {
				t.Fatal("the example has no mark")
			}
			var m parser.Message
			m.Parse(before+after, airports{})
			found := append(m.Errors, m.Warnings...)
			if len(found) != 1 {
				t.Fatalf("found %v", found)
			}
			line, column := lineAndColumn(before)
			equal(t, "code", found[0].Code, d.Code)
			equal(t, "place", fmt.Sprint(found[0].Line, ":", found[0].Column), fmt.Sprint(line, ":", column))
			equal(t, "accepted", m.Accepted(), d.Warning)
		})
	}
}

func TestCodeDefinition(t *testing.T) {
	airport, _ := parser.WrongFlightAirport.Definition()
	equal(t, "warning", airport.Warning, false)
	d, ok := parser.WrongWeight.Definition()
	equal(t, "known", ok, true)
	equal(t, "warning", d.Warning, true)
	_, ok = parser.Code(37).Definition()
	equal(t, "a code of the door", ok, false)

	parser.Codes()[0].Text = "changed"
	d, _ = parser.MissingText.Definition()
	equal(t, "text", d.Text, "Raw message missing")
}
