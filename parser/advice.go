package parser

import (
	"fmt"
	"strconv"
	"strings"
)

// Advice says how a fault can be mended. Both members may be empty.
type Advice struct {
	Suggestion string // the text that mends the fault if it replaces the bytes from Column to EndColumn
	Hint       string // a sentence about the likely cause
}

// The hints that do not depend on the message.
const (
	hintCapitals   = "Messages are written in capital letters."
	hintMark       = "The text begins with a byte-order mark: save it as UTF-8 without one."
	hintUTF16      = "The text is UTF-16: send it as ASCII or UTF-8."
	hintJSON       = `This is JSON, not the text of a message: send the text alone. A Kafka record {"bim_message": "…"} needs the header content-type: application/json.`
	hintEscapes    = `Line ends are written as the characters \n: send CR LF or LF.`
	hintTwo        = "There is more than one message, or text before or after it: send each message by itself. The commands validate and replay split a capture with --split."
	hintDate       = "A date has two digits for the day and three letters for the month, and no year: 05MAR."
	hintCheckDigit = "There are eleven digits of licence plate: leave out the check digit at their end."
)

// Advise returns how to mend d, a diagnostic of m. The text and ref are those that m was parsed
// with.
func (m *Message) Advise(d Diagnostic, text string, ref Reference) Advice {
	switch d.Code {
	case MissingIdentifier:
		return adviseShape(d, text)
	case WrongIdentifier:
		if m.Kind != None {
			return Advice{Hint: hintTwo}
		}
	case MissingVersion, MissingSourceVersion, MissingFlight, MissingLoadingFlight, MissingTag, MissingTags:
		if d.Value == "" { // a bare .N is there, and there may be thousands: the text is not searched for each
			return adviseMissing(d, text)
		}
	case MissingEnd:
		if line := findLine(text, func(s string) bool { return s != strings.ToUpper(s) && isEnd(strings.ToUpper(s), m.Identifier) }); line > 0 {
			return Advice{Hint: hintCapitals}
		}
	case WrongVersionAirport, WrongFlightAirport:
		return adviseAirport(d.Value, ref)
	case WrongFlightDate:
		return adviseDate(d.Value)
	case TagLength:
		return advisePlate(d.Value, tagLength)
	case IrregularityLength:
		return advisePlate(d.Value, irregularityLength)
	}
	return adviseCapitals(d, m.Version.Airport, ref)
}

// adviseShape advises on a text without an identifier.
func adviseShape(d Diagnostic, text string) Advice {
	isLower := func(s string) bool { return kindOf(strings.ToUpper(s)) != None }
	start := strings.TrimLeft(text, " \t\r\n")
	switch {
	case strings.HasPrefix(text, "\xef\xbb\xbf"):
		return Advice{Hint: hintMark}
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		return Advice{Hint: hintUTF16}
	case start != "" && strings.Contains(`{["`, start[:1]):
		return Advice{Hint: hintJSON}
	case strings.Contains(text, `\n`):
		return Advice{Hint: hintEscapes}
	case isLower(d.Value):
		return Advice{strings.ToUpper(d.Value), hintCapitals}
	case findLine(text, isLower) > 0:
		return Advice{Hint: hintCapitals}
	}
	return Advice{}
}

// adviseMissing advises on a missing element: a line may hold it with a small letter.
func adviseMissing(d Diagnostic, text string) Advice {
	elements := d.Element
	if d.Code == MissingTags {
		elements = ".N.B"
	}
	number := findLine(text, func(s string) bool {
		return len(s) > 1 && s[1] >= 'a' && IsElement(strings.ToUpper(s)) && strings.Contains(elements, strings.ToUpper(s[:2]))
	})
	if number == 0 {
		return Advice{}
	}
	return Advice{Hint: fmt.Sprintf("Line %d is not an element, since the letter after its point is small. %s", number, hintCapitals)}
}

// findLine returns the number of the first line of text, without blanks around it, for which match
// is true; 0 if there is none.
func findLine(text string, match func(string) bool) int {
	for number := 1; text != ""; number++ {
		length := lineLength(text)
		if match(trim(text[:length])) {
			return number
		}
		text = text[length+endingLength(text[length:]):]
	}
	return 0
}

// adviseAirport suggests the code in capitals, or the only known code at an edit distance of 1.
func adviseAirport(value string, ref Reference) Advice {
	code := strings.ToUpper(value)
	if IsThreeCapitals(code) && ref.KnownLocation(code) {
		return Advice{code, hintCapitals}
	}
	near := ""
	for _, candidate := range neighbours(code) {
		if candidate == near || !IsThreeCapitals(candidate) || !ref.KnownLocation(candidate) {
			continue
		}
		if near != "" {
			return Advice{}
		}
		near = candidate
	}
	return Advice{Suggestion: near}
}

// neighbours returns texts of three bytes. Among them is every code of three capitals at an edit
// distance of 1 from code, and code itself if it is three capitals.
func neighbours(code string) (near []string) {
	const length = 3
	switch len(code) {
	case length + 1:
		for i := range code {
			near = append(near, code[:i]+code[i+1:])
		}
	case length, length - 1:
		for i := range length {
			for letter := 'A'; letter <= 'Z'; letter++ {
				near = append(near, code[:i]+string(letter)+code[i+len(code)-length+1:])
			}
		}
	}
	return near
}

// adviseDate suggests a date DDMMM for a date in another form. It suggests none if the other form
// can be read in two ways, or holds more than a day, a month and a year.
func adviseDate(value string) Advice {
	words := wordsOf(strings.ToUpper(value))
	digits := 0
	for _, w := range words {
		if isDigits(w) {
			digits++
		}
	}
	if len(words) == 1 && digits == 1 && len(value) == len("20260305") && value[0] == '2' {
		words, digits = []string{value[:4], value[4:6], value[6:]}, 3
	}
	candidate := ""
	if len(words) == 2 || len(words) == 3 && (isYear(words[2]) || len(words[0]) == 4 && digits == 3) {
		switch first, second := words[0], words[1]; {
		case isMonth(second): // 05MAR26, 5MAR, 05-MAR-2026
			candidate = twoDigits(first) + second[:3]
		case isMonth(first): // MAR05
			candidate = twoDigits(second) + first[:3]
		case len(first) == 4 && digits == 3: // 2026-03-05
			if month, err := strconv.Atoi(second); err == nil && 1 <= month && month <= 12 {
				candidate = twoDigits(words[2]) + monthNames[3*month-3:3*month]
			}
		}
	}
	if _, ok := dateOf(candidate); ok {
		return Advice{candidate, hintDate}
	}
	if digits > 0 && digits == len(words) {
		return Advice{Hint: hintDate}
	}
	return Advice{}
}

const fullMonths = " JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER"

// isYear reports whether a word is a year: two digits, or four that begin with 20. Other digits may
// be a time.
func isYear(word string) bool {
	return isDigits(word) && (len(word) == 2 || len(word) == 4 && word[:2] == "20")
}

// isMonth reports whether a word is the name of a month, or its first three letters or more.
func isMonth(word string) bool { return len(word) >= 3 && strings.Contains(fullMonths, " "+word) }

func twoDigits(s string) string {
	if len(s) == 1 {
		return "0" + s
	}
	return s
}

// wordsOf returns the runs of digits and the runs of capitals in s. Other characters separate them.
func wordsOf(s string) (words []string) {
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789")
		if rest == s {
			rest = strings.TrimLeft(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		}
		if rest == s {
			s = s[1:]
			continue
		}
		words, s = append(words, s[:len(s)-len(rest)]), rest
	}
	return words
}

// advisePlate advises on an .N or .B that is one digit too long. If the eleventh digit is the
// remainder of the plate divided by 7, as a check digit is, advisePlate suggests the element
// without it.
func advisePlate(element string, length int) Advice {
	at := length - plateDigits - countDigits
	if len(element) != length+1 || !isDigits(element[at:]) || element[at-1] != '/' {
		return Advice{}
	}
	plate, check, count := element[at:at+plateDigits], element[at+plateDigits], element[at+plateDigits+1:]
	n, _ := number(plate)
	advice := Advice{Hint: hintCheckDigit}
	if _, ok := tagsOf(plate + count); ok && n%7 == int(check-'0') {
		advice.Suggestion = element[:at] + plate + count
	}
	return advice
}

// adviseCapitals suggests the value in capitals, if it is valid then.
func adviseCapitals(d Diagnostic, airport string, ref Reference) Advice {
	value, sound := strings.ToUpper(d.Value), false
	switch d.Code {
	case WrongSource:
		sound = len(value) == 1 && strings.Contains("LTXR", value)
	case WrongFlight:
		_, _, sound = FlightOf(value)
	case WrongStatus:
		sound = ref.KnownStatus(airport, value)
	case WrongWeight:
		sound = d.Expected == expectedUnit && len(value) == 1 && strings.Contains("KLP", value)
	}
	if !sound {
		return Advice{}
	}
	return Advice{value, hintCapitals}
}
