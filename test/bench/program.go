package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bagtrail/ingestor/kafkadoor"
	"bagtrail/test/loopback"
	"bagtrail/test/servers/program"
	"bagtrail/test/service"
)

// bagtrail is the program itself, running as a process of its own.
type bagtrail struct {
	cmd     *exec.Cmd
	command string
	http    string // address of the operations
	ops     string
	gone    chan struct{}
}

// launch starts a command of bagtrail on the shared servers, with more of an environment, and waits until it is ready.
func (b *bench) launch(ctx context.Context, command string, r *redisServer, k *kafkaServer, topics kafkadoor.Topics, group string, env ...string) (*bagtrail, error) {
	return b.startProgram(ctx, command, append([]string{
		"BAGTRAIL_REDIS_URL=" + r.url(), "BAGTRAIL_RETENTION=175200h",
		"BAGTRAIL_KAFKA_BROKERS=" + strings.Join(k.brokers, ","), "BAGTRAIL_KAFKA_GROUP=" + group,
		"BAGTRAIL_KAFKA_TOPIC=" + topics.Raw, "BAGTRAIL_KAFKA_REJECTS_TOPIC=" + topics.Rejects,
		"BAGTRAIL_KAFKA_DIRTY_TOPIC=" + topics.Raw + ".marks", "BAGTRAIL_KAFKA_CHANGES_TOPIC=" + topics.Raw + ".changes",
	}, env...)...)
}

// startProgram starts a command of bagtrail with an environment, and waits until it is ready.
func (b *bench) startProgram(ctx context.Context, command string, env ...string) (*bagtrail, error) {
	addresses, err := loopback.Addresses(2)
	if err != nil {
		return nil, err
	}
	p := &bagtrail{command: command, http: addresses[0], ops: addresses[1], gone: make(chan struct{})}
	p.cmd = exec.Command(service.Binary(b.suite), command)
	p.cmd.Env = append(service.WithoutSettings(os.Environ()), "BAGTRAIL_HTTP_ADDR="+p.http, "BAGTRAIL_OPS_ADDR="+p.ops)
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var complaints strings.Builder
	p.cmd.Stderr = &complaints
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ends does not matter
		close(p.gone)
	}()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = program.Await(ctx, func(context.Context) error { return p.ready() })
	if err != nil {
		p.end()
		return nil, fmt.Errorf("bagtrail %s: %w\n%s", command, err, complaints.String())
	}
	return p, nil
}

func (p *bagtrail) ready() error {
	select {
	case <-p.gone:
		return errors.New("it has ended")
	default:
	}
	response, err := http.Get("http://" + p.ops + "/readyz")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("readyz says %s", response.Status)
	}
	return nil
}

// memory returns how many bytes of the process are resident, and the most since it started or since forgetPeak.
func (p *bagtrail) memory() (now, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		for name, into := range map[string]*int64{"VmRSS:": &now, "VmHWM:": &peak} {
			if value, found := strings.CutPrefix(line, name); found {
				if _, err := fmt.Sscanf(value, "%d kB", into); err != nil {
					return 0, 0, err
				}
				*into <<= 10
			}
		}
	}
	if now == 0 || peak == 0 {
		return 0, 0, errors.New("the kernel does not tell the memory of a process")
	}
	return now, peak, nil
}

// forgetPeak lets the kernel count the most bytes from now on.
func (p *bagtrail) forgetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// processorTime returns the processor time of a process so far, to a hundredth of a second.
func processorTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	ticks := 0
	for _, field := range strings.Fields(rest)[11:13] { // utime and stime
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// metric sums all series of a metric of the process.
func (p *bagtrail) metric(name string) (sum float64, err error) {
	conn, err := net.Dial("tcp", p.ops)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /metrics HTTP/1.0\r\n\r\n"); err != nil {
		return 0, err
	}
	found := false
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		rest, is := strings.CutPrefix(lines.Text(), name)
		if !is || rest == "" || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			return 0, err
		}
		sum, found = sum+value, true
	}
	if !found {
		return 0, fmt.Errorf("there is no metric %s", name)
	}
	return sum, lines.Err()
}

// end stops the process and waits for it.
func (p *bagtrail) end() {
	p.cmd.Process.Signal(syscall.SIGCONT)
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.gone:
	case <-time.After(15 * time.Second):
		p.cmd.Process.Kill()
		<-p.gone
	}
}

// profileOf begins to take profiles of a process if profiles are wanted. wait waits for them.
func (b *bench) profileOf(p *bagtrail, name string) (wait func() error) {
	if b.profile == "" {
		return func() error { return nil }
	}
	name = strings.NewReplacer(", ", "-", " ", "-").Replace(name)
	done := make(chan error, 1)
	go func() {
		err := p.profile("profile?seconds=5", filepath.Join(b.profile, name+".cpu.pprof"))
		done <- errors.Join(err, p.profile("allocs", filepath.Join(b.profile, name+".allocs.pprof")), p.profile("heap", filepath.Join(b.profile, name+".heap.pprof")))
	}()
	return func() error { return <-done }
}

// profile writes one profile of the process to a file.
func (p *bagtrail) profile(which, file string) error {
	response, err := http.Get("http://" + p.ops + "/debug/pprof/" + which)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
