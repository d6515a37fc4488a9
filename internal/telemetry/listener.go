package telemetry

import (
	"context"
	"errors"
	"net"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/pause"
)

// Patient returns a listener whose Accept goes on after errors such as too many open files, and logs
// them. Its only error is net.ErrClosed.
func Patient(l net.Listener, log *zap.Logger) net.Listener { return patient{l, log} }

type patient struct {
	net.Listener
	log *zap.Logger
}

// acceptAgainAfter is how long a patient listener waits after an error.
const acceptAgainAfter = 50 * time.Millisecond

// Accept implements net.Listener.
func (l patient) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return conn, err
		}
		l.log.Warn("connections cannot be accepted: trying again", zap.Stringer("address", l.Addr()), zap.Error(err))
		_ = pause.For(context.Background(), acceptAgainAfter)
	}
}
