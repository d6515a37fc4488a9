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
	ctx, drain := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		// The first signal drains the process. signal.Stop comes before drain: once anybody can
		// notice the drain, a second signal has its default effect and stops the process at once.
		<-signals
		signal.Stop(signals)
		drain()
	}()
	os.Exit(command.Run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
