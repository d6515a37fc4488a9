package simulate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Faults is how often what goes wrong, in percent. The first four count messages, the others bags; at most one of
// these befalls a bag.
type Faults struct {
	Late       float64 // received minutes or hours after what it tells
	Duplicated float64 // sent again, in other line ends
	OutOfOrder float64 // sent after messages that were received later
	Malformed  float64 // sent malformed first, and right after that as it should be

	Rerouted  float64 // rebooked before it is loaded
	Rush      float64 // left behind, and sent after its passenger under a new tag
	Offloaded float64 // taken off, then loaded again, on the same flight or the next
	Unknown   float64 // none of its BSMs is ever sent
	Cancelled float64 // its journey ends at check-in
}

// DefaultFaults are those of an ordinary day.
func DefaultFaults() Faults {
	return Faults{Late: 2, Duplicated: 1, OutOfOrder: 1, Malformed: 0.5, Rerouted: 1.5, Rush: 0.7, Offloaded: 1, Unknown: 0.5, Cancelled: 0.5}
}

// fields are the names under which faults are set, in the order of the struct.
var fields = []struct {
	name string
	of   func(*Faults) *float64
}{
	{"late", func(f *Faults) *float64 { return &f.Late }},
	{"duplicated", func(f *Faults) *float64 { return &f.Duplicated }},
	{"out-of-order", func(f *Faults) *float64 { return &f.OutOfOrder }},
	{"malformed", func(f *Faults) *float64 { return &f.Malformed }},
	{"rerouted", func(f *Faults) *float64 { return &f.Rerouted }},
	{"rush", func(f *Faults) *float64 { return &f.Rush }},
	{"offloaded", func(f *Faults) *float64 { return &f.Offloaded }},
	{"unknown", func(f *Faults) *float64 { return &f.Unknown }},
	{"cancelled", func(f *Faults) *float64 { return &f.Cancelled }},
}

// ParseFaults reads a comma list, from left to right over the defaults: "none", "all=PERCENT", "NAME=PERCENT", as in
// "none,rush=5". It reports everything that is wrong with it.
func ParseFaults(list string) (Faults, error) {
	faults := DefaultFaults()
	var all []error
	for item := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		if name == "" && value == "" {
			continue
		}
		if name == "none" && value == "" {
			faults = Faults{}
			continue
		}
		percent, err := strconv.ParseFloat(value, 64)
		if err != nil {
			all = append(all, fmt.Errorf("fault %q: want NAME=PERCENT", item))
			continue
		}
		known := false
		for _, f := range fields {
			if name == f.name || name == "all" {
				*f.of(&faults), known = percent, true
			}
		}
		if !known {
			all = append(all, fmt.Errorf("fault %q: want one of none, all, %s", name, strings.Join(faultNames(), ", ")))
		}
	}
	if err := errors.Join(append(all, faults.validate())...); err != nil {
		return Faults{}, err
	}
	return faults, nil
}

// String writes the faults as ParseFaults reads them.
func (f Faults) String() string {
	items := make([]string, len(fields))
	for i, field := range fields {
		items[i] = field.name + "=" + strconv.FormatFloat(*field.of(&f), 'g', -1, 64)
	}
	return strings.Join(items, ",")
}

func (f Faults) validate() error {
	var all []error
	for _, field := range fields {
		if p := *field.of(&f); !(p >= 0 && p <= 100) {
			all = append(all, fmt.Errorf("fault %s: %v percent: want 0 to 100", field.name, p))
		}
	}
	if sum := f.Rerouted + f.Rush + f.Offloaded + f.Unknown + f.Cancelled; sum > 100 {
		all = append(all, fmt.Errorf("faults of bags: %v percent together: want at most 100", sum))
	}
	return errors.Join(all...)
}

func faultNames() []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}
