package telemetry

import (
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// warningsAMinute is how many failures of one text are written each minute. A failed attempt is a
// warning with an error, and while a server is away every partition makes one each second.
const warningsAMinute = 10

// sparing writes at most warningsAMinute warnings of one text with a field error each minute. The
// next one of that text has a field left_out, which counts those that were left out before it. All
// other entries are written as they come: a warning without an error reports something that happens
// once, and each request must have its record.
type sparing struct {
	zapcore.Core
	warnings *Limit
}

// With implements zapcore.Core.
func (s sparing) With(fields []zapcore.Field) zapcore.Core {
	return sparing{s.Core.With(fields), s.warnings}
}

// Check implements zapcore.Core.
func (s sparing) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if s.Enabled(e.Level) {
		return checked.AddCore(e, s)
	}
	return checked
}

// Write implements zapcore.Core.
func (s sparing) Write(e zapcore.Entry, fields []zapcore.Field) error {
	if e.Level == zapcore.WarnLevel && e.Message != "request" && slices.ContainsFunc(fields, isError) {
		written, leftOut := s.warnings.Pass(e.Message, e.Time)
		if !written {
			return nil
		}
		if leftOut > 0 {
			fields = append(fields, zap.Int("left_out", leftOut))
		}
	}
	return s.Core.Write(e, fields)
}

func isError(f zapcore.Field) bool { return f.Type == zapcore.ErrorType }

// Limit limits how many log lines of each kind are written a minute. It may be used by several
// goroutines at once.
type Limit struct {
	most   int
	mu     sync.Mutex
	byKind map[string]*minute
}

// minute is the last minute with lines of a kind.
type minute struct {
	began            time.Time
	written, leftOut int
}

// NewLimit returns a limit of most lines of each kind. Kinds are constants of a program.
func NewLimit(most int) *Limit { return &Limit{most: most, byKind: make(map[string]*minute)} }

// Pass reports whether a line is to be written and, if it is, how many of its kind were left out since
// the last one.
func (l *Limit) Pass(kind string, at time.Time) (written bool, leftOut int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, known := l.byKind[kind]
	if !known {
		m = &minute{began: at}
		l.byKind[kind] = m
	}
	if at.Sub(m.began) >= time.Minute {
		m.began, m.written = at, 0
	}
	if m.written == l.most {
		m.leftOut++
		return false, 0
	}
	m.written++
	leftOut, m.leftOut = m.leftOut, 0
	return true, leftOut
}
