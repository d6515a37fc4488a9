package parser

// Change is the change of status of a BSM, from the line after its identifier.
type Change uint8

// The changes of status.
const (
	New    Change = iota // any other line; some feeds send ADD
	Revise               // CHG
	Delete               // DEL
)

// Date is a day of the year as a message writes it: DDMMM, without a year.
// The zero Date is absent.
type Date struct {
	Day   uint8 // 1-31
	Month uint8 // 1-12
}

// Flight is one flight element (.F .I .O), or the connection of a .U element.
// A Flight without airline is absent.
type Flight struct {
	Airline string // 2 or 3 characters
	Number  string // digits without leading zeros, at least one, and the suffix: "117", "117A"
	Date    Date   // local departure date of the flight
	Airport string // destination for .F, .O and .U; origin for .I
}

// Present reports whether the element was in the message and valid.
func (f Flight) Present() bool { return f.Airline != "" }

// Tags is one .N or .B element: a run of consecutive licence plates of one airline.
type Tags struct {
	First  uint64 // first plate as a number of ten digits
	Count  int    // 1-999
	Status string // .B: baggage status code ("OFF"); .N: ""
}

// Version is the .V element. Its members are empty if the field is absent or faulty.
type Version struct {
	Source  byte   // L local, T transfer, X terminating, R remote
	Airport string // the airport that the message is about
}

// Processing is the .J element. Its members are empty if the field is absent or faulty.
type Processing struct {
	Present      bool
	Code         byte // S sortation, R reconciliation, G ground tracking, H hand scan, or the capital that was sent; 0 none
	Date         Date
	HasTime      bool
	HasSeconds   bool // the time has seconds
	Seconds      int  // since midnight, if HasTime
	UTC          bool // the time is UTC (Z), else local at the .V airport (L)
	ReadLocation string
	SentLocation string
}

// Stowage is where the bags are stowed: fields 1 and 2 of the .U element.
type Stowage struct {
	Device      string // stowage device
	Compartment string // aircraft compartment, sometimes the airport itself
}

// Loading is the .U element. Device, Compartment and Connection are empty if their fields are
// absent or faulty.
type Loading struct {
	Present    bool
	LongDevice bool // field 1 is too long for a stowage device, so Device is ""
	Stowage
	Connection Flight // fields 7-9; Date and Airport may be absent
}

// Screening is the result of the .X elements of a message.
type Screening uint8

// The screening results, in rising precedence.
const (
	NotScreened Screening = iota
	Screened              // an .X with another result, or with none
	Cleared               // field 2 is CLR
	Refused               // field 2 is REJ or REF
)

// Weight is the .W element. A number is -1, and Unit is "", if its field is absent or faulty.
type Weight struct {
	Unit    string // K kilograms, L pounds, P pieces only
	Pieces  int    // checked bags
	Checked int    // checked weight of all bags of the passenger, in Unit; -1 unless that is K or L
}

// Details are the elements that describe the passenger and the bags of a group.
type Details struct {
	Seat            string   // .S 2
	PassengerStatus string   // .S 3, one capital
	TagStatus       string   // .S 8, one capital
	Weight          Weight   // .W 1-3
	Surname         string   // .P 1 without the count
	GivenName       string   // .P 2 without the title
	PNR             string   // .L, as sent
	FrequentFlyer   string   // .Y 1
	Rush            bool     // an .E with RUSH
	UniqueID        string   // .M 1: ten digits, or ""
	AirlineData     []string // the texts of the .R elements, without the .R/
}

// Group is one group of a message: flights, tags and passenger. It includes the flights and the
// loading that it inherits (rules §1).
type Group struct {
	Outbound Flight   // .F
	Inbound  Flight   // .I
	Onward   []Flight // .O, in the order of the message
	Tags     []Tags   // .N and .B, in the order of the message; see Plates
	Loading  Loading  // .U
	Details
}

// Head is the part of a message that applies to all its groups.
type Head struct {
	Kind   Kind
	Change Change
	Origin string // the last Type B origin line with day and time before the identifier, or ""
	Version
	Processing Processing // the first .J
	Screening  Screening  // all .X
}

// Message is a parsed message. Its zero value is ready for Parse. Parse reuses its memory, so its
// slices, and those of a copy, are valid until the next Parse. Its strings remain valid: they are
// constants, or substrings of the parsed text or of its copy without control characters.
type Message struct {
	Head
	Identifier string  // "BSM", "BUM", …; "" if none was found
	Groups     []Group // at least one in an accepted message

	// Errors and Warnings hold the diagnostics in line order, at most one for each code and line.
	// If there is an error, the message must change nothing, and its other members may be
	// incomplete.
	Errors   []Diagnostic
	Warnings []Diagnostic

	scratch scratch
}

// Accepted reports whether the message has no error.
func (m *Message) Accepted() bool { return len(m.Errors) == 0 }

// Arriving reports whether the .F of a group arrives at the .V airport (rules §3, legs): the message
// is a BSM with source X, or both airports are one place.
func (m *Message) Arriving(g *Group, samePlace func(a, b string) bool) bool {
	return m.Kind.IsSource() && m.Source == 'X' || g.Outbound.Present() && samePlace(g.Outbound.Airport, m.Airport)
}
