package redis

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/internal/pause"
)

// inProcess is a Redis inside this process, for tests and for users who have no server. It opens no
// port: connections are pipes in memory. Its data ends with the process.
//
// Its clock stands still between ticks, since each tick scans all keys.
type inProcess struct {
	server  *miniredis.Miniredis
	ticking sync.WaitGroup
	stop    context.CancelFunc // ends the ticks
}

// maxTick is the longest tick.
const maxTick = time.Minute

// startInProcess starts a Redis whose keys expire by the clock, see Config.Tick.
func startInProcess(now func() time.Time, tick time.Duration) (*inProcess, error) {
	p := &inProcess{server: miniredis.NewMiniRedis()}
	first, err := p.server.Dial() // starts the server without a port
	if err == nil {
		err = first.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("in-process redis: %w", err)
	}
	// Without its monotonic reading, a time also counts while the machine is suspended.
	p.server.SetTime(now().Round(0))
	p.server.ClockTTL(true)
	tick = max(time.Second, min(cmp.Or(tick, maxTick), maxTick))
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.ticking.Go(func() { pause.Every(ctx, tick, func() { p.server.SetTime(now().Round(0)) }) })
	return p, nil
}

func (p *inProcess) dial() net.Conn {
	client, server := Pipe()
	p.server.Server().ServeConn(server)
	return client
}

func (p *inProcess) close() {
	p.stop()
	p.ticking.Wait()
	p.server.Close()
}
