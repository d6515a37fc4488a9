package command

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"bagtrail/ingestor"
)

// rejectLog logs a line for every rejected message that is kept, and of a flood of them so many a second. It says what is
// wrong, and where; of the message itself it says nothing. It may be used by several goroutines at once.
type rejectLog struct {
	log     *zap.Logger
	leftOut atomic.Int64 // lines since the last one
}

const (
	rejectsASecond = 100 // lines
	faultsALine    = 20
)

func newRejectLog(log *zap.Logger) *rejectLog {
	r := &rejectLog{}
	count := func(_ zapcore.Entry, decision zapcore.SamplingDecision) {
		if decision&zapcore.LogDropped != 0 {
			r.leftOut.Add(1)
		}
	}
	r.log = log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Second, rejectsASecond, 0, zapcore.SamplerHook(count))
	}))
	return r
}

// Reject implements ingestor.Rejects for a process without Kafka: the log is all that is kept.
func (r *rejectLog) Reject(_ context.Context, rejections []ingestor.Rejection) error {
	r.write(rejections)
	return nil
}

// write logs rejections.
func (r *rejectLog) write(rejections []ingestor.Rejection) {
	for i := range rejections {
		if line := r.log.Check(zap.InfoLevel, "a message is rejected"); line != nil {
			line.Write(r.fields(&rejections[i])...)
		}
	}
}

// flush says how many lines were left out since the last one.
func (r *rejectLog) flush() error {
	if n := r.leftOut.Swap(0); n > 0 {
		r.log.Info("rejected messages were left out of the log", zap.Int64("left_out", n))
	}
	return nil
}

func (r *rejectLog) fields(rejected *ingestor.Rejection) []zap.Field {
	shown := rejected.Errors[:min(len(rejected.Errors), faultsALine)]
	codes, lines, elements := make([]string, len(shown)), make([]int, len(shown)), make([]string, len(shown))
	for i, d := range shown {
		codes[i], lines[i], elements[i] = d.Code, d.Line, d.Element
	}
	fields := []zap.Field{
		zap.String("door", doorOf(rejected.Origin)), zap.String("origin", printable(rejected.Origin)),
		zap.Int("faults", len(rejected.Errors)), zap.Strings("codes", codes), zap.Ints("lines", lines), zap.Strings("elements", elements),
	}
	if rejected.Sender != "" {
		fields = append(fields, zap.String("key", rejected.Sender))
	}
	if n := r.leftOut.Swap(0); n > 0 {
		fields = append(fields, zap.Int64("left_out", n))
	}
	return fields
}

// doorOf returns the door through which a message came, by its origin.
func doorOf(origin string) string {
	if door, _, _ := strings.Cut(origin, "/"); door == "http" || door == "file" {
		return door
	}
	return "kafka"
}
