package telemetry

import (
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// warningsAMinute is how many warnings of one text are written each minute. A failed attempt is a
// warning, and while a server is away every partition makes one each second.
const warningsAMinute = 10

// sparing writes at most warningsAMinute warnings of one text each minute. The next warning of that
// text has a field left_out, which counts those that were left out before it. Other levels are
// written as they come.
type sparing struct {
	zapcore.Core
	warnings *warnings
}

// warnings counts the warnings of each text. The texts are constants of the program.
type warnings struct {
	mu     sync.Mutex
	byText map[string]*minute
}

// minute is the last minute with warnings of a text.
type minute struct {
	began            time.Time
	written, leftOut int
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
	if e.Level == zapcore.WarnLevel {
		written, leftOut := s.warnings.count(e)
		if !written {
			return nil
		}
		if leftOut > 0 {
			fields = append(fields, zap.Int("left_out", leftOut))
		}
	}
	return s.Core.Write(e, fields)
}

// count reports whether a warning is to be written and, if it is, how many of its text were left out
// since the last one.
func (w *warnings) count(e zapcore.Entry) (written bool, leftOut int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, known := w.byText[e.Message]
	if !known {
		m = &minute{began: e.Time}
		w.byText[e.Message] = m
	}
	if e.Time.Sub(m.began) >= time.Minute {
		m.began, m.written = e.Time, 0
	}
	if m.written == warningsAMinute {
		m.leftOut++
		return false, 0
	}
	m.written++
	leftOut, m.leftOut = m.leftOut, 0
	return true, leftOut
}
