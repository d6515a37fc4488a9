package changes

import (
	"errors"
	"iter"
	"strconv"
	"strings"

	"bagtrail/internal/bag"
)

// Mark says that the bags of a plate, or those in a container, may have changed.
type Mark struct {
	Plate     bag.Plate     // "" if the mark is of a container
	Container bag.Container // the zero Container if the mark is of a plate

	// Certain makes the owner tell the change even if the bags fold to the state that was told
	// last, since a reader may have seen another state meanwhile. The marks of messages that are
	// filed again, and of changes of the flight reference, are certain.
	Certain bool
	// Steps is the length of the chain of rush bags from a plate that a message names to this
	// plate. Each step leads from a rush bag to its original. It is 0 for a plate that a message
	// names.
	Steps int
}

// maxSteps is the largest number of steps that marks follow along a chain of rush bags.
const maxSteps = 8

// Key returns the key of the mark's record. Marks of one plate have one key, and so one partition.
func (m Mark) Key() string {
	if m.Plate != "" {
		return string(m.Plate)
	}
	return FlightName(m.Container.Flight) + "/" + m.Container.Device
}

// Value returns the value of the mark's record.
func (m Mark) Value() string {
	value := "ordinary"
	if m.Certain {
		value = "certain"
	}
	if m.Steps > 0 {
		value += " " + strconv.Itoa(m.Steps)
	}
	return value
}

// errMark is the error for a record that is not a mark.
var errMark = errors.New("not a mark")

// parseMark reads a mark from the key and the value of its record.
func parseMark(key, value string) (Mark, error) {
	kind, steps, _ := strings.Cut(value, " ")
	m := Mark{Plate: bag.Plate(key), Certain: kind == "certain"}
	if steps != "" {
		n, err := strconv.Atoi(steps)
		if err != nil || n < 1 || n > maxSteps {
			return Mark{}, errMark
		}
		m.Steps = n
	}
	if kind != "ordinary" && kind != "certain" {
		return Mark{}, errMark
	}
	if m.Plate.Valid() {
		return m, nil
	}
	parts := strings.SplitN(key, "/", 4)
	if len(parts) != 4 {
		return Mark{}, errMark
	}
	day, err := bag.ParseDay(parts[2])
	if err != nil {
		return Mark{}, errMark
	}
	m.Plate = ""
	m.Container = bag.Container{
		Flight: bag.Flight{Airline: parts[0], Number: parts[1], Day: day}, Device: parts[3],
	}
	return m, nil
}

// named yields a mark for each plate that a message names and each container that it positions.
func named(f *bag.Filing) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for _, e := range f.Entries {
			if !yield(Mark{Plate: e.Plate}) {
				return
			}
		}
		for _, c := range f.Stowage {
			if !yield(Mark{Container: c}) {
				return
			}
		}
	}
}
