package queryapi

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// arguments holds the arguments of a request to /v1: its path and query parameters, or the members
// of its body. Its methods read them and collect every fault in errors.
type arguments struct {
	given  []argument
	errors web.RequestErrors
	body   bool // the arguments are members of a body
	broken bool // the body is no JSON object

	forbidden bool // the key does not cover what is asked for
}

// argument is one value. Either parameter is the name of its parameter, or pointer is its JSON
// pointer in the body.
type argument struct {
	name, value        string
	parameter, pointer string
	wrongKind          string // the expected kind of JSON value, if the member has another one
}

// newArguments returns the arguments of a request without a body. names are the names of the
// placeholders in its path.
func newArguments(c *web.Call, names ...string) *arguments {
	a := new(arguments)
	for i, name := range names {
		a.given = append(a.given, argument{name: name, value: c.Values[i], parameter: name})
	}
	for _, p := range c.Query {
		a.given = append(a.given, argument{name: p.Name, value: p.Value, parameter: p.Name})
		if slices.Contains(names, p.Name) {
			a.fail(a.given[len(a.given)-1], fault.Unknown, "")
		}
	}
	return a
}

// bodyArguments returns the members of a JSON body as arguments. Each query parameter is a fault.
// plain lists the members whose values are taken as they stand, whatever their kind.
func bodyArguments(c *web.Call, plain ...string) *arguments {
	a := new(arguments)
	for _, p := range c.Query {
		a.fail(argument{parameter: p.Name, value: p.Value}, fault.Unknown, "no parameter")
	}
	a.readObject(c.Body, plain...)
	return a
}

// lists are the members of bodies that are lists. A list gives one argument for each element.
var lists = []string{"plate", "ids"}

// maxElements is the largest number of elements that any of the lists may have.
const maxElements = 1000

// readObject adds the members of a JSON object as arguments. plain has the same meaning as in
// bodyArguments. A member of the wrong kind becomes an argument with wrongKind, which allowOnly
// reports.
func (a *arguments) readObject(text []byte, plain ...string) {
	a.body = true
	seen, before := map[string]bool{}, len(a.errors)
	err := strictjson.Object(text, func(m strictjson.Member) {
		name, _ := strictjson.Unquote(m.Name)
		g := argument{name: name, value: string(m.Value), pointer: web.Pointer(name)}
		switch isList := m.Value[0] == '['; {
		case seen[name]:
			a.fail(g, fault.Repeated, "")
		case slices.Contains(plain, name):
			a.given = append(a.given, g)
		case isList && slices.Contains(lists, name):
			i := 0
			_ = strictjson.Elements(m.Value, func(value []byte) { // Object has checked the syntax
				if i <= maxElements { // one more shows that there are too many
					a.given = append(a.given, scalar(name, g.pointer+"/"+strconv.Itoa(i), value))
				}
				i++
			})
			if i == 0 { // it must not be taken for a question without the list
				g.wrongKind = "a list of at least one"
				a.given = append(a.given, g)
			}
		case slices.Contains(lists, name):
			g.wrongKind = "a list"
			a.given = append(a.given, g)
		default:
			a.given = append(a.given, scalar(name, g.pointer, m.Value))
		}
		seen[name] = true
	})
	if err != nil {
		a.given, a.broken = nil, true
		a.errors = append(a.errors[:before], web.RequestError{Cause: fault.Malformed, Expected: "a JSON object: " + err.Error()})
	}
}

// scalar returns a member, or an element of a list, that must be a string; limit must be a number.
func scalar(name, pointer string, value []byte) argument {
	g := argument{name: name, value: string(value), pointer: pointer}
	text, isString := strictjson.Unquote(value)
	if isString {
		g.value = text
	}
	switch {
	case name == "limit" && (isString || value[0] == '['):
		g.wrongKind = "a whole number"
	case name == "limit":
		g.value = strings.TrimSuffix(g.value, ".0") // some encoders write each number so
	case !isString:
		g.wrongKind = "a string"
	}
	return g
}

func (a *arguments) fail(g argument, cause fault.Cause, expected string) {
	a.errors.Add(web.RequestError{Parameter: g.parameter, Pointer: g.pointer, Cause: cause, Got: g.value, Expected: expected})
}

// allowOnly adds a fault for every argument whose name is not in names, and for every member of the
// wrong kind. It returns a.
func (a *arguments) allowOnly(names ...string) *arguments {
	for _, g := range a.given {
		if !slices.Contains(names, g.name) {
			a.fail(g, fault.Unknown, "")
		} else if g.wrongKind != "" {
			a.fail(g, fault.Malformed, g.wrongKind)
		}
	}
	return a
}

// all returns the arguments with that name, except members of the wrong kind.
func (a *arguments) all(name string) (found []argument) {
	for _, g := range a.given {
		if g.name == name && g.wrongKind == "" {
			found = append(found, g)
		}
	}
	return found
}

// sent reports whether there is an argument with that name, of the right kind or not.
func (a *arguments) sent(name string) bool {
	return slices.ContainsFunc(a.given, func(g argument) bool { return g.name == name })
}

// one returns the argument with that name. It returns false if the argument was not sent, or was
// sent more than once. A repeated argument is also a fault.
func (a *arguments) one(name string) (argument, bool) {
	found := a.all(name)
	if len(found) > 1 {
		a.fail(found[1], fault.Repeated, "")
	}
	if len(found) != 1 {
		return argument{}, false
	}
	return found[0], true
}

// text returns the value of an argument, or "" if it was not sent. A value that is not valid is a
// fault, and is returned as it was sent.
func (a *arguments) text(name string, valid func(string) bool, expected string) string {
	g, there := a.one(name)
	if there && !valid(g.value) {
		a.fail(g, fault.Malformed, expected)
	}
	return g.value
}

func isNotEmpty(s string) bool { return s != "" }

// choice returns the value of an argument, or values[0] if it was not sent. A value that is not in
// values is a fault, and is returned as it was sent.
func (a *arguments) choice(name string, values ...string) string {
	g, there := a.one(name)
	switch {
	case !there:
		return values[0]
	case !slices.Contains(values, g.value):
		a.fail(g, fault.Malformed, "one of "+strings.Join(values, ", "))
	}
	return g.value
}

// date returns the value of the argument date, and whether it was sent. A malformed date is a fault.
func (a *arguments) date() (day bag.Day, there bool) {
	g, there := a.one("date")
	if there {
		var err error
		if day, err = bag.ParseDay(g.value); err != nil {
			a.fail(g, fault.Malformed, "a date of the form YYYY-MM-DD")
		}
	}
	return day, there
}

// The forms of arguments, as faults name them.
const (
	airportForm = "3 upper case letters"
	airlineForm = "2 upper case letters or digits with a letter among them, or 3 ending with a letter"
	pnrForm     = "5 or 6 letters and digits"
)

// sinceForm describes the values that the argument "since" may have in a question about changes.
func sinceForm(retention time.Duration) string {
	amount, unit := retention.Hours(), "hours"
	if retention < time.Hour {
		amount, unit = retention.Seconds(), "seconds"
	}
	return fmt.Sprintf("a time as in RFC 3339, within the last %.6g %s", amount, unit)
}

// clockSkew is how much the clock of a caller may differ from that of the service, including the time
// that a request takes to arrive.
const clockSkew = time.Minute

// since returns the value of the argument since, or the zero time if it was not sent. A time that
// is older than the retention or in the future is a fault. Both bounds are extended by clockSkew.
func (q Queries) since(a *arguments) time.Time {
	g, there := a.one("since")
	if !there {
		return time.Time{}
	}
	at, err := parseInstant(g.value)
	if age := q.Clock().Sub(at); err != nil || age < -clockSkew || age > q.ChangesRetention+clockSkew {
		a.fail(g, fault.Malformed, sinceForm(q.ChangesRetention))
		return time.Time{}
	}
	return at
}

// instantForm matches a time of RFC 3339 §5.6. Package time accepts other forms too, such as a
// comma before the fraction of a second.
var instantForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// parseInstant reads a time by RFC 3339, which may have small letters.
func parseInstant(text string) (time.Time, error) {
	text = strings.ToUpper(text)
	if !instantForm.MatchString(text) {
		return time.Time{}, errors.New("not a time")
	}
	return time.Parse(time.RFC3339, text)
}

// knownAirport returns the argument airport, or "" if it was not sent. A value that is no airport
// of the library is a fault, and is returned as it was sent.
func (a *arguments) knownAirport(airports *airport.Library) string {
	code := a.text("airport", parser.IsThreeCapitals, airportForm)
	if parser.IsThreeCapitals(code) && !airports.KnownLocation(code) {
		g, _ := a.one("airport")
		a.fail(g, fault.NoSuch, "an airport of the library")
	}
	return code
}

// number returns the value of an argument, or usual if it was not sent. Anything but a whole number
// within the bounds is a fault. The result of a fault must not be used.
func (a *arguments) number(name string, usual, least, most int) int {
	g, there := a.one(name)
	if !there {
		return usual
	}
	n, err := strconv.Atoi(g.value)
	if err != nil || strconv.Itoa(n) != g.value || n < least || n > most { // JSON has no +5 and no 05 either
		a.fail(g, fault.Malformed, "a whole number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}
	return n
}

// plates returns the licence plates in the arguments plate.
func (a *arguments) plates(most int) []bag.Plate {
	return several(a, "plate", most, bag.Plate.Valid, "10 digits")
}

// several returns the values of the arguments with that name. A value that is not valid is a fault,
// and so are more values than most.
func several[S ~string](a *arguments, name string, most int, valid func(S) bool, expected string) (values []S) {
	for i, g := range a.all(name) {
		switch {
		case i == most:
			a.fail(g, fault.TooMany, "at most "+strconv.Itoa(most))
			return nil
		case !valid(S(g.value)):
			a.fail(g, fault.Malformed, expected)
		default:
			values = append(values, S(g.value))
		}
	}
	return values
}

// failMissing adds the fault that a mandatory argument is missing, unless it was sent and is faulty.
func (a *arguments) failMissing(name, expected string) {
	if a.broken || a.sent(name) {
		return
	}
	g := argument{parameter: name}
	if a.body {
		g = argument{pointer: "/" + name}
	}
	a.fail(g, fault.Missing, expected)
}

// refusal returns the answer to a request that has faults, or whose key lacks the right or does not
// cover what is asked for. It returns false if there is nothing to refuse.
func (a *arguments) refusal(c *web.Call) (web.Answer, bool) {
	switch {
	case len(a.errors) > 0:
		return c.Invalid(a.errors), true
	case a.forbidden || !c.MayUse():
		return c.NotAuthorised(), true
	}
	return web.Answer{}, false
}
