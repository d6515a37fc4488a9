package redis

import (
	"context"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// ClientLog passes the log lines of the client library, about lost connections and new masters, to
// log. kind is the format of a line, so that lines of one cause have one kind; while a server is away
// the library logs a line at each attempt. ClientLog applies to the whole process: call it once,
// before anything else. Lines hold addresses, never keys or values.
func ClientLog(log func(kind, line string)) { goredis.SetLogger(clientLog(log)) }

type clientLog func(kind, line string)

// Printf implements the interface of the library for loggers.
func (log clientLog) Printf(_ context.Context, format string, args ...any) {
	log(format, strings.TrimPrefix(fmt.Sprintf(format, args...), "redis: "))
}
