package redis

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// ClientLog passes the log lines of the client library, about lost connections and new masters, to
// log. While a server is away the library logs a line at each attempt, so log gets at most one line
// of each kind a minute; more is how many lines of that kind were left out since the last one.
// ClientLog applies to the whole process: call it once, before anything else. Lines hold addresses,
// never keys or values.
func ClientLog(log func(line string, more int), now func() time.Time) {
	goredis.SetLogger(&clientLog{log: log, now: now, kinds: make(map[string]*clientLines)})
}

// clientLogPause is the least time between two lines of a kind.
const clientLogPause = time.Minute

type clientLog struct {
	log func(line string, more int)
	now func() time.Time

	mu    sync.Mutex
	kinds map[string]*clientLines // by format; the library has some dozens
}

// clientLines are the lines of one kind.
type clientLines struct {
	logged time.Time // the last line that was passed on
	more   int       // lines left out since then
}

// Printf implements the interface of the library for loggers.
func (c *clientLog) Printf(_ context.Context, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines, known := c.kinds[format]
	if !known {
		lines = new(clientLines)
		c.kinds[format] = lines
	}
	now := c.now()
	if now.Sub(lines.logged) < clientLogPause {
		lines.more++
		return
	}
	c.log(strings.TrimPrefix(fmt.Sprintf(format, args...), "redis: "), lines.more)
	*lines = clientLines{logged: now}
}
