package parser

import (
	"fmt"
	"slices"
)

// Code is the number of an SVCPRB code: 18 is SVCPRB018.
type Code uint16

// The codes of the parser. Their numbers are a contract: the meaning of a number never changes.
const (
	MissingText          Code = 3
	MissingIdentifier    Code = 4
	MissingVersion       Code = 5
	MissingLoadingFlight Code = 6
	MissingTag           Code = 7
	MissingTags          Code = 8
	MissingIrregularity  Code = 9
	MissingTagsAlias     Code = 10
	WrongIdentifier      Code = 11
	ShortVersion         Code = 12
	WrongVersion         Code = 13
	WrongSource          Code = 14
	WrongVersionAirport  Code = 15
	TagLength            Code = 16
	WrongTag             Code = 17
	IrregularityLength   Code = 18
	WrongIrregularity    Code = 19
	ShortFlight          Code = 20
	WrongFlight          Code = 21
	WrongFlightDate      Code = 22
	WrongFlightAirport   Code = 23
	WrongWeight          Code = 25
	WrongStatus          Code = 27
	MissingSourceVersion Code = 39
	MissingEnd           Code = 40
	MissingFlight        Code = 41
)

// String returns the code as the interface writes it: SVCPRB018.
func (c Code) String() string { return fmt.Sprintf("SVCPRB%03d", uint16(c)) }

// Definition returns the definition of the code. It returns false if the parser has no such code.
// If the code has two definitions, Definition returns the one of the error.
func (c Code) Definition() (Definition, bool) {
	for i := range definitions {
		if definitions[i].Code == c {
			return definitions[i], true
		}
	}
	return Definition{}, false
}

// Definition is the definition of a code.
type Definition struct {
	Code    Code
	Warning bool // the fault is a warning, which never rejects a message
	Text    string
	Example string // a message with this one fault, at the place of ^; "" if the code is never given
}

// Codes returns the definitions of all codes, ordered by number. A code that is an error in some
// elements and a warning in others has two definitions, first that of the error.
func Codes() []Definition { return slices.Clone(definitions[:]) }

var definitions = [...]Definition{
	{MissingText, false, "Raw message missing",
		"^"},
	{MissingIdentifier, false, "No message identifier",
		"^.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"},
	{MissingVersion, false, "Processed message has no .V element",
		"^BPM\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBPM"},
	{MissingLoadingFlight, false, "No .F element, although .U holds a stowage device or an aircraft compartment",
		"BPM\n.V/1LZRH\n^.U/AKE12345LX\n.N/0724123456001\nENDBPM"},
	{MissingTag, false, "No .N element",
		"^BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\nENDBSM"},
	{MissingTags, false, "No .N or .B element, and the message does not position a container",
		"^BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\nENDBPM"},
	{MissingIrregularity, false, "No .B element",
		"BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n^.B/\nENDBPM"},
	{MissingTagsAlias, false, "No .N or .B element, and the message does not position a container",
		""},
	{WrongIdentifier, false, "Incorrect message identifier",
		"^BUM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBUM"},
	{ShortVersion, false, ".V is shorter than 8 characters",
		"BSM\n^.V/1ZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"},
	{WrongVersion, false, "Incorrect version number",
		"BSM\n.V/^2LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"},
	{WrongSource, false, "Incorrect baggage source indicator",
		"BSM\n.V/1^KZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"},
	{WrongVersionAirport, false, "Invalid airport code in .V",
		"BSM\n.V/1L^ZRHX\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"},
	{TagLength, false, ".N is not 16 characters",
		"BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n^.N/0724123456\nENDBSM"},
	{WrongTag, false, "Invalid tag number",
		"BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/^0724123456000\nENDBSM"},
	{IrregularityLength, false, ".B is not 20 characters",
		"BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n^.B/OFF/07/24123456001\nENDBPM"},
	{WrongIrregularity, false, "Invalid tag number",
		"BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.B/OFF/^0724999999002\nENDBPM"},
	{ShortFlight, false, "Flight element is shorter than 16 characters",
		"BSM\n.V/1LZRH\n^.F/LX14/JFK\n.N/0724123456001\nENDBSM"},
	{WrongFlight, false, "Invalid flight number in the flight element",
		"BSM\n.V/1LZRH\n.F/^LX12345/12MAR/JFK\n.N/0724123456001\nENDBSM"},
	{WrongFlightDate, false, "Invalid date in the flight element",
		"BSM\n.V/1LZRH\n.F/LX14/^31FEB/JFK\n.N/0724123456001\nENDBSM"},
	{WrongFlightAirport, false, "Invalid airport code in the flight element",
		"BSM\n.V/1LZRH\n.F/LX14/12MAR/^JF\n.N/0724123456001\nENDBSM"},
	{WrongFlightAirport, true, "Invalid airport code in the flight element",
		"BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.I/LX712/12MAR/^QQQ\n.N/0724123456001\nENDBSM"},
	{WrongWeight, true, ".W not IATA compliant for Weight Indicator and/or Number of Checked Bags and/or Checked Weight",
		"BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724123456001\n.W/K/^A/20\nENDBSM"},
	{WrongStatus, false, ".B not IATA compliant for baggage status code at the airport given in .V",
		"BPM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.B/^QQQ/0724123456001\nENDBPM"},
	{MissingSourceVersion, false, "Source message has no .V element",
		"^BSM\n.F/LX14/12MAR/JFK\n.N/0724123456001\nENDBSM"},
	{MissingEnd, false, "Source message has no end-of-message identifier",
		"BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n^.N/0724123456001"},
	{MissingFlight, false, "Source message has no .F element",
		"^BSM\n.V/1LZRH\n.N/0724123456001\nENDBSM"},
}
