// Package program runs real servers from the programs on this machine: Debian's redis-server and
// Apache Kafka's jars, alone and as a cluster.
//
// It installs nothing and knows nothing of tests; package servers gives its servers to tests. Every
// server listens on loopback only, on ports that nothing else uses, and writes into one folder. It
// ends with the process that started it, even if that is killed, unless Home.Outlive is set.
package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Home is the place of a server.
type Home struct {
	// Dir is an existing folder for this server alone: configuration, data, log.
	Dir string
	// Outlive leaves the server running when the process that started it ends.
	Outlive bool
}

// Process is one server. Start, Kill, Stop and Cont may be called from any goroutine, one at a
// time. A server keeps its address and data when it is killed and started again.
type Process struct {
	Name string // "redis", "kafka": for messages
	Addr string // host:port on loopback

	home  Home
	argv  []string
	ready func(context.Context) error // nil if the server works

	mu   sync.Mutex
	cmd  *exec.Cmd
	gone chan struct{} // closed when the process of cmd has ended
}

// Start runs the server and returns when it is ready. If the server ends first, or ctx does, the
// error has the end of its log.
func (p *Process) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive() {
		return fmt.Errorf("start %s: it runs already", p.Name)
	}
	if err := p.launch(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	err := Await(ctx, func(ctx context.Context) error {
		select {
		case <-p.gone:
			return errEnded
		default:
			return p.ready(ctx)
		}
	})
	if err != nil {
		_ = p.signal(syscall.SIGKILL)
		return fmt.Errorf("start %s on %s: %w; its log ends:\n%s", p.Name, p.Addr, err, p.logEnd())
	}
	return nil
}

// launch runs the program in a process group of its own, so that a signal reaches the children that
// Redis forks.
func (p *Process) launch() error {
	log, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.home.Dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !p.home.Outlive, Setsid: p.home.Outlive}
	if err := cmd.Start(); err != nil {
		return err
	}
	var line *lifeline
	if !p.home.Outlive {
		if line, err = tie(cmd.Process.Pid, p.home.Dir); err != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			return errors.Join(err, cmd.Wait())
		}
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		line.release()
		close(gone)
	}()
	p.cmd, p.gone = cmd, gone
	return nil
}

// Kill ends the server at once, as kill -9 does, and waits until it is gone.
func (p *Process) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	<-p.gone
	return nil
}

// Stop freezes the server (SIGSTOP). Once Stop returns, nothing answers, but connections stay open.
func (p *Process) Stop() error {
	if err := p.locked("stop", syscall.SIGSTOP); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	pid := p.Pid()
	if err := Await(ctx, func(context.Context) error { return standsStill(pid) }); err != nil {
		return fmt.Errorf("stop %s: %w", p.Name, err)
	}
	return nil
}

// standsStill returns an error while a thread of a stopped process still runs: on a busy machine
// each thread takes the signal at its next turn. It returns nil if the system does not tell.
func standsStill(pid int) error {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return err
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		// The state follows the name, which is in brackets and may hold any character. T is
		// stopped, Z has ended.
		state := bytes.TrimSpace(text[bytes.LastIndexByte(text, ')')+1:])
		if len(state) == 0 || !bytes.ContainsRune([]byte("TZX"), rune(state[0])) {
			return fmt.Errorf("a thread runs on: %s", text)
		}
	}
	return nil
}

// Cont continues a stopped server (SIGCONT).
func (p *Process) Cont() error { return p.locked("continue", syscall.SIGCONT) }

// Close kills the server if it runs.
func (p *Process) Close() { _ = p.Kill() }

// Pid returns the process id of the running server, 0 if it does not run.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alive() {
		return 0
	}
	return p.cmd.Process.Pid
}

func (p *Process) locked(what string, s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.signal(s); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (p *Process) signal(s syscall.Signal) error {
	if !p.alive() {
		return fmt.Errorf("%s on %s does not run", p.Name, p.Addr)
	}
	return syscall.Kill(-p.cmd.Process.Pid, s)
}

func (p *Process) alive() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

func (p *Process) logFile() string { return filepath.Join(p.home.Dir, "log") }

func (p *Process) logEnd() []byte {
	const enough = 4000
	text, _ := os.ReadFile(p.logFile())
	return bytes.TrimSpace(text[max(0, len(text)-enough):])
}

var errEnded = errors.New("the program ended")

// Await calls ready until it returns nil or ctx is done. The error then has the last reason.
func Await(ctx context.Context, ready func(context.Context) error) error {
	const (
		pause = 20 * time.Millisecond
		once  = time.Second // for one call, since a starting server may accept a connection and stay silent
	)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		call, cancel := context.WithTimeout(ctx, once)
		err := ready(call)
		cancel()
		if err == nil || errors.Is(err, errEnded) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-tick.C:
		}
	}
}
