package redis

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// ClientLog gives the lines that the client library would print to log instead: lost connections, new masters. While a
// server is away the library says so at each attempt, so of each kind of line there is one a minute; more is how many of
// its kind were left out since the one before. It holds for the whole process; a program calls it once, before anything
// else. Lines hold addresses, never keys or values.
func ClientLog(log func(line string, more int), now func() time.Time) {
	goredis.SetLogger(&clientLog{log: log, now: now, kinds: make(map[string]*clientLines)})
}

// clientLogPause is how long a kind of line is silent after it was logged.
const clientLogPause = time.Minute

type clientLog struct {
	log func(line string, more int)
	now func() time.Time

	mu    sync.Mutex
	kinds map[string]*clientLines // by their format, of which the library has some dozens
}

// clientLines are the lines of one kind.
type clientLines struct {
	logged time.Time // the last one that was
	more   int       // left out since
}

// Printf implements the logger of the library.
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
