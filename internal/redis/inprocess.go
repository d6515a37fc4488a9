package redis

import (
	"fmt"
	"net"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// inProcess is a Redis inside this process, for tests and for users who have no server. It opens no
// port: connections are pipes in memory. Its data ends with the process.
//
// Its clock stands still between ticks, since each tick scans all keys.
type inProcess struct {
	server *miniredis.Miniredis
	stop   chan struct{}
	done   chan struct{}
}

// startInProcess starts a Redis whose keys expire by the clock, at most a tick late.
func startInProcess(now func() time.Time, tick time.Duration) (*inProcess, error) {
	p := &inProcess{server: miniredis.NewMiniRedis(), stop: make(chan struct{}), done: make(chan struct{})}
	first, err := p.server.Dial() // starts the server without a port
	if err == nil {
		err = first.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("in-process redis: %w", err)
	}
	p.server.SetTime(now())
	p.server.ClockTTL(true)
	if tick == 0 {
		tick = time.Minute
	}
	go p.run(now, max(time.Second, tick))
	return p, nil
}

func (p *inProcess) run(now func() time.Time, tick time.Duration) {
	defer close(p.done)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.server.SetTime(now())
		}
	}
}

// dial returns a connection to the server.
func (p *inProcess) dial() net.Conn {
	client, server := Pipe()
	p.server.Server().ServeConn(server)
	return client
}

func (p *inProcess) close() {
	close(p.stop)
	<-p.done
	p.server.Close()
}
