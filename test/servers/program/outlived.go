package program

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// RunsFrom reports whether a server that outlives its starter still runs: pid is a process with dir
// in its command line.
func RunsFrom(pid int, dir string) bool {
	if pid <= 1 || dir == "" {
		return false
	}
	out, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), dir)
}

// KillFrom kills such a server with its process group, and waits until it has ended.
func KillFrom(pid int, dir string) {
	if !RunsFrom(pid, dir) {
		return
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	const enough = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), enough)
	defer cancel()
	_ = Await(ctx, func(context.Context) error {
		if RunsFrom(pid, dir) {
			return errors.New("still there")
		}
		return nil
	})
}
