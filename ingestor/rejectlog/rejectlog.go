// Package rejectlog logs rejected messages: one line for each, and at most 100 lines per second. A
// line names the codes of the faults, their lines and elements (rules §5). It shows no value from
// the text of the message.
package rejectlog

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"bagtrail/ingestor"
)

const (
	linesASecond = 100
	faultsALine  = 20
)

// Log implements ingestor.Rejects. If rejections are written to several places, write to the Log
// last: after an error of another place, all are written again, and a rejection must be logged only
// once. A Log may be used by several goroutines at once.
type Log struct {
	log     *zap.Logger
	leftOut atomic.Int64 // how many lines were left out since the last one
}

// New returns a Log that logs to log.
func New(log *zap.Logger) *Log {
	l := new(Log)
	count := func(_ zapcore.Entry, decision zapcore.SamplingDecision) {
		if decision&zapcore.LogDropped != 0 {
			l.leftOut.Add(1)
		}
	}
	l.log = log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Second, linesASecond, 0, zapcore.SamplerHook(count))
	}))
	return l
}

// Reject implements ingestor.Rejects.
func (l *Log) Reject(_ context.Context, rejections []ingestor.Rejection) error {
	for i := range rejections {
		if line := l.log.Check(zap.InfoLevel, "a message is rejected"); line != nil {
			line.Write(l.fields(&rejections[i])...)
		}
	}
	return nil
}

// Flush logs how many lines were left out since the last one.
func (l *Log) Flush() error {
	if n := l.leftOut.Swap(0); n > 0 {
		l.log.Info("rejected messages were left out of the log", zap.Int64("left_out", n))
	}
	return nil
}

func (l *Log) fields(rejected *ingestor.Rejection) []zap.Field {
	shown := rejected.Errors[:min(len(rejected.Errors), faultsALine)]
	codes, lines, elements := make([]string, len(shown)), make([]int, len(shown)), make([]string, len(shown))
	for i, d := range shown {
		codes[i], lines[i], elements[i] = d.Code, d.Line, d.Element
	}
	origin := strconv.Quote(rejected.Origin) // file names come from outside, and a terminal may show the log
	fields := []zap.Field{
		zap.String("door", rejected.Door), zap.String("origin", origin[1:len(origin)-1]),
		zap.Int("faults", len(rejected.Errors)), zap.Strings("codes", codes), zap.Ints("lines", lines), zap.Strings("elements", elements),
	}
	if rejected.Sender != "" {
		fields = append(fields, zap.String("key", rejected.Sender))
	}
	if n := l.leftOut.Swap(0); n > 0 {
		fields = append(fields, zap.Int64("left_out", n))
	}
	return fields
}
