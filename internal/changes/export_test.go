package changes

import "bagtrail/internal/kafka"

// NewOwner returns the owner of a partition, for tests that stop it in the middle.
func (s *Stage) NewOwner(partition int) kafka.Handler { return s.newOwner(partition) }

// ParseMark is parseMark.
var ParseMark = parseMark
