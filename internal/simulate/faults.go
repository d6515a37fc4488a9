package simulate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Faults are the frequencies of faults, in percent. The first four are percentages of messages, the
// others of bags. A bag has at most one fault of bags.
type Faults struct {
	Late       float64 // the message is received minutes or hours late
	Duplicated float64 // the message is sent again, with other line ends
	OutOfOrder float64 // the message is sent after messages that were received later
	Malformed  float64 // the message is sent malformed first, and directly after that in its right form

	Rerouted  float64 // the bag is rebooked before it is loaded
	Rush      float64 // the bag is left behind, and sent after its passenger under a new tag
	Offloaded float64 // the bag is taken off, then loaded again, on the same flight or the next
	Unknown   float64 // none of the BSMs of the bag is sent
	Cancelled float64 // the journey of the bag ends at check-in
}

// DefaultFaults returns the faults of an ordinary day.
func DefaultFaults() Faults {
	return Faults{Late: 2, Duplicated: 1, OutOfOrder: 1, Malformed: 0.5, Rerouted: 1.5, Rush: 0.7, Offloaded: 1, Unknown: 0.5, Cancelled: 0.5}
}

// fault is a field of Faults.
type fault struct {
	name    string
	percent *float64
}

// fields returns the fields, in their order.
func (f *Faults) fields() []fault {
	return []fault{
		{"late", &f.Late}, {"duplicated", &f.Duplicated}, {"out-of-order", &f.OutOfOrder}, {"malformed", &f.Malformed},
		{"rerouted", &f.Rerouted}, {"rush", &f.Rush}, {"offloaded", &f.Offloaded}, {"unknown", &f.Unknown}, {"cancelled", &f.Cancelled},
	}
}

// ParseFaults parses a comma-separated list like "none,rush=5". Its items are "none", "all=PERCENT"
// and "NAME=PERCENT"; they change DefaultFaults from left to right. The error joins every fault of
// the list.
func ParseFaults(list string) (Faults, error) {
	faults := DefaultFaults()
	var all []error
	for item := range strings.SplitSeq(list, ",") {
		name, value, hasValue := strings.Cut(strings.TrimSpace(item), "=")
		if name == "" && !hasValue {
			continue
		}
		if name == "none" && !hasValue {
			faults = Faults{}
			continue
		}
		percent, err := strconv.ParseFloat(value, 64)
		if err != nil {
			all = append(all, fmt.Errorf("fault %q: want NAME=PERCENT", item))
			continue
		}
		known := false
		for _, f := range faults.fields() {
			if name == f.name || name == "all" {
				*f.percent, known = percent, true
			}
		}
		if !known {
			all = append(all, fmt.Errorf("fault %q: want one of none, all, %s", name, faultNames()))
		}
	}
	if err := errors.Join(append(all, faults.validate())...); err != nil {
		return Faults{}, err
	}
	return faults, nil
}

func (f Faults) validate() error {
	var all []error
	for _, field := range f.fields() {
		if p := *field.percent; !(p >= 0 && p <= 100) {
			all = append(all, fmt.Errorf("fault %s: %v percent: want 0 to 100", field.name, p))
		}
	}
	if sum := f.Rerouted + f.Rush + f.Offloaded + f.Unknown + f.Cancelled; sum > 100 {
		all = append(all, fmt.Errorf("faults of bags: %v percent together: want at most 100", sum))
	}
	return errors.Join(all...)
}

func faultNames() string {
	var names []string
	for _, f := range new(Faults).fields() {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}
