package telemetry

import (
	"context"
	"errors"
	"net"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/pause"
)

// RetryAccept returns a listener whose Accept tries again after errors such as too many open files,
// and logs them. Its only error is net.ErrClosed.
func RetryAccept(l net.Listener, log *zap.Logger) net.Listener { return retrying{l, log} }

type retrying struct {
	net.Listener
	log *zap.Logger
}

// acceptAgainAfter is the time from an error to the next try.
const acceptAgainAfter = 50 * time.Millisecond

// Accept implements net.Listener.
func (l retrying) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return conn, err
		}
		l.log.Warn("connections cannot be accepted: trying again", zap.Stringer("address", l.Addr()), zap.Error(err))
		_ = pause.For(context.Background(), acceptAgainAfter)
	}
}
