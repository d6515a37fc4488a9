// Command bagtrail follows checked bags through the baggage messages of airports and airlines.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"bagtrail/internal/command"
)

func main() {
	// The first signal drains. From then on signals do what they do by default, so the second one stops at once.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(command.Run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
