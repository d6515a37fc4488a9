package redis

import (
	"fmt"
	"net"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// inProcess is a Redis inside this process, for those who have no server and for tests. No port is opened: it is reached
// through memory only. What it holds ends with the process.
//
// Its clock stands still between ticks, since every tick costs it a look at all keys.
type inProcess struct {
	server *miniredis.Miniredis
	stop   chan struct{}
	done   chan struct{}
}

// startInProcess starts a Redis whose keys expire by the clock, at most a tick late.
func startInProcess(now func() time.Time, tick time.Duration) (*inProcess, error) {
	e := &inProcess{server: miniredis.NewMiniRedis(), stop: make(chan struct{}), done: make(chan struct{})}
	first, err := e.server.Dial() // this is what starts a server without a port
	if err != nil {
		return nil, fmt.Errorf("in-process redis: %w", err)
	}
	if err := first.Close(); err != nil {
		return nil, fmt.Errorf("in-process redis: %w", err)
	}
	e.server.SetTime(now())
	e.server.ClockTTL(true)
	if tick == 0 {
		tick = time.Minute
	}
	go e.run(now, max(time.Second, tick))
	return e, nil
}

func (e *inProcess) run(now func() time.Time, tick time.Duration) {
	defer close(e.done)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-e.stop:
			return
		case <-ticker.C:
			e.server.SetTime(now())
		}
	}
}

// dial returns a connection to the server.
func (e *inProcess) dial() net.Conn {
	client, server := newPipe()
	e.server.Server().ServeConn(server)
	return client
}

func (e *inProcess) close() {
	close(e.stop)
	<-e.done
	e.server.Close()
}
