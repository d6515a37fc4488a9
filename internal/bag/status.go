package bag

// Status is the loading status of a leg.
type Status uint8

// The loading statuses.
const (
	NoStatus Status = iota
	NotLoaded
	InContainer
	OnAircraft
	Offloaded
	Delayed
)

var statusTexts = [...]string{"", "Not Loaded", "Loaded in Container", "Loaded on Aircraft", "Offloaded", "Delayed"}

// String returns the text of the interface, "" for NoStatus.
func (s Status) String() string { return statusTexts[s] }

// Loaded reports whether the bag is in a container or on the aircraft.
func (s Status) Loaded() bool { return s == InContainer || s == OnAircraft }
