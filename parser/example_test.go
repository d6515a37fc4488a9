package parser_test

import (
	"fmt"

	"bagtrail/parser"
)

func ExampleMessage_Parse() {
	var m parser.Message
	m.Parse("BPM\n.V/1LZRH\n.F/LX0014/12MAR/JFK\n.B/OFF/0724123456002\nENDBPM", airports{})
	for _, group := range m.Groups {
		for plate := range group.Plates() {
			fmt.Printf("%010d %s%s\n", plate, group.Outbound.Airline, group.Outbound.Number)
		}
	}
	// Output:
	// 0724123456 LX14
	// 0724123457 LX14
}

func ExampleDiagnostic() {
	var m parser.Message
	m.Parse("BSM\n.V/1LZRH\n.F/LX0014/31FEB/JFK\n.N/0724123456001", airports{})
	for _, fault := range m.Errors {
		fmt.Println(fault.Code, fault.Line, fault.Column, fault.Description())
	}
	// Output:
	// SVCPRB022 3 11 Invalid date in the flight element (line 3, element .F): found "31FEB", expected a calendar date DDMMM.
	// SVCPRB040 4 1 Source message has no end-of-message identifier (line 4): expected a line ENDBSM behind it.
}
