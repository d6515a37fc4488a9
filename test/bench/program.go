package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bagtrail/ingestor/kafkadoor"
	"bagtrail/test/service"
)

// bagtrail is the program itself, running as a process of its own.
type bagtrail struct {
	*service.Service
	command string
	http    string // address of the operations
}

// launch starts a command of bagtrail on the shared servers, with more of an environment, and waits until it is ready.
func (b *bench) launch(command string, r *redisServer, k *kafkaServer, topics kafkadoor.Topics, group string, env ...string) (*bagtrail, error) {
	return b.startProgram(command, append([]string{
		"BAGTRAIL_REDIS_URL=" + r.url(), "BAGTRAIL_RETENTION=175200h",
		"BAGTRAIL_KAFKA_BROKERS=" + strings.Join(k.brokers, ","), "BAGTRAIL_KAFKA_GROUP=" + group,
		"BAGTRAIL_KAFKA_TOPIC=" + topics.Raw, "BAGTRAIL_KAFKA_REJECTS_TOPIC=" + topics.Rejects,
		"BAGTRAIL_KAFKA_DIRTY_TOPIC=" + topics.Raw + ".marks", "BAGTRAIL_KAFKA_CHANGES_TOPIC=" + topics.Raw + ".changes",
	}, env...)...)
}

// startProgram starts a command of bagtrail with an environment, and waits until it is ready.
func (b *bench) startProgram(command string, env ...string) (*bagtrail, error) {
	p := &bagtrail{Service: service.New(b.suite, []string{command}, env...), command: command}
	p.http = strings.TrimPrefix(p.URL, "http://")
	p.Launch()
	if !p.Until(time.Minute, func() bool { status, _ := p.TryGet(p.Ops + "/readyz"); return status == http.StatusOK }) {
		p.end()
		return nil, fmt.Errorf("bagtrail %s does not become ready\n%s", command, p.Log())
	}
	return p, nil
}

// memory returns how many bytes of the process are resident, and the most since it started or since forgetPeak.
func (p *bagtrail) memory() (now, peak int64, err error) {
	for name, into := range map[string]*int64{"VmRSS": &now, "VmHWM": &peak} {
		if _, err := fmt.Sscanf(p.Status(name), "%d kB", into); err != nil {
			return 0, 0, fmt.Errorf("the kernel does not tell %s of a process: %w", name, err)
		}
		*into <<= 10
	}
	return now, peak, nil
}

// forgetPeak lets the kernel count the most bytes from now on.
func (p *bagtrail) forgetPeak() error {
	return os.WriteFile("/proc/"+p.Status("Pid")+"/clear_refs", []byte("5"), 0)
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

// metric sums all series of a metric of the process. A sum of 0 is an error.
func (p *bagtrail) metric(name string) (float64, error) {
	sum := p.Metric(name)
	if sum == 0 {
		return 0, fmt.Errorf("there is no metric %s", name)
	}
	return sum, nil
}

// end stops the process and waits for it.
func (p *bagtrail) end() {
	p.Signal(syscall.SIGCONT)
	p.Signal(syscall.SIGTERM)
	p.Until(15*time.Second, func() bool { return false })
	p.Kill()
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
	response, err := http.Get(p.Ops + "/debug/pprof/" + which)
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
