// Package telemetry provides the log and the metrics of a process, the ops server with /livez,
// /readyz, /metrics and /debug/pprof, and listeners that log why they accept no connections. It
// does not depend on the domain, and has no globals.
package telemetry

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"bagtrail/internal/strictjson"
)

// NewLogger returns a logger that writes to w. level is debug, info, warn or error. format is json,
// console, or auto, which is console if w is a terminal, else json. Times are UTC, in RFC 3339 with
// milliseconds. At most ten warnings with the same text and an error are written each minute,
// except those of requests, which are all written; the next one says in left_out how many were not
// written.
func NewLogger(w io.Writer, level, format string) *zap.Logger {
	threshold, _ := zapcore.ParseLevel(level) // package config has checked it
	encoding := zap.NewProductionEncoderConfig()
	encoding.TimeKey = "time"
	encoding.MessageKey = "message"
	encoding.EncodeDuration = zapcore.StringDurationEncoder
	encoding.EncodeTime = utc
	encoder := zapcore.NewJSONEncoder(encoding)
	if format == "console" || format == "auto" && IsTerminal(w) {
		encoding.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(encoding)
	}
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), threshold)
	return zap.New(sparing{core, NewLimit(warningsAMinute)})
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

func utc(t time.Time, enc zapcore.PrimitiveArrayEncoder) {
	enc.AppendString(t.UTC().Format(strictjson.Millis))
}
