// Package service runs the bagtrail program for tests as a process of its own, and uses it as
// callers do. It imports nothing of the program.
package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"bagtrail/test/loopback"
)

// DevelopmentKey is the key of a service without a key file.
const DevelopmentKey = "bagtrail-development"

// T is the part of a test that a service uses: a *testing.T, a *testing.B, or a *Suite for a whole
// run of tests.
type T interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	TempDir() string
}

// Binary builds the program once for each test process and returns its path. Every process puts it
// at the same place, where it can be replaced while it runs. BAGTRAIL_TEST_BINARY names a program
// that is already built.
func Binary(t T) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var binary = sync.OnceValues(func() (path string, err error) {
	if path := os.Getenv("BAGTRAIL_TEST_BINARY"); path != "" {
		return path, nil
	}
	lookAtSources()
	return install(filepath.Join(root(), ".cache", "test"))
})

// lookAtSources reads every folder of sources. go test repeats the cached result of a test unless a
// file or folder has changed that its process has read; it does not see what go build reads.
func lookAtSources() {
	_ = filepath.WalkDir(root(), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return nil
	})
}

// install builds the program and moves it into a directory.
func install(dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	own, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	built, err := compile(own)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "bagtrail")
	return path, os.Rename(built, path)
}

// root returns the folder of the module.
func root() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		panic("this program does not know its sources")
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// compile builds the program into a directory, with additional flags of go build. As in the image, it
// is built without cgo, whose threads take 8 MiB of address space each.
func compile(dir string, flags ...string) (path string, err error) {
	path = filepath.Join(dir, "bagtrail")
	cmd := exec.Command("go", slices.Concat([]string{"build", "-o", path}, flags, []string{"."})...)
	cmd.Dir, cmd.Env = root(), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
}

// StartReplaced is StartCommand for another program: in one source file, named from the root of the
// module, a text that occurs once is replaced. The sources are not changed.
func StartReplaced(t T, args []string, source, text, replacement string, env ...string) *Service {
	t.Helper()
	source = filepath.Join(root(), source)
	sound, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(sound), text); n != 1 {
		t.Fatalf("%s holds the text %d times: %s", source, n, text)
	}
	dir := t.TempDir()
	other, overlay := filepath.Join(dir, "other.go"), filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {source: other}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		other: strings.Replace(string(sound), text, replacement, 1), overlay: string(replaced),
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := New(t, args, env...)
	if s.binary, err = compile(dir, "-overlay", overlay); err != nil {
		t.Fatal(err)
	}
	s.Up()
	return s
}

// Service is a running bagtrail process.
type Service struct {
	t     T
	args  []string
	env   []string
	cmd   *exec.Cmd
	ended chan error
	log   *Buffer

	binary string // the program, if it is not that of Binary

	URL   string // of the five operations
	Ops   string // of livez, readyz, metrics
	Kafka string // address of the in-process broker
	Dir   string // data directory
}

// Start runs `bagtrail serve` with its own addresses and data directory, then the settings of env
// ("BAGTRAIL_X=y"). It waits until the service is ready. The process is killed when the test ends.
func Start(t T, env ...string) *Service { return StartCommand(t, []string{"serve"}, env...) }

// StartCommand is Start for another command of the program.
func StartCommand(t T, args []string, env ...string) *Service {
	t.Helper()
	s := New(t, args, env...)
	s.Up()
	return s
}

// New prepares a service without starting it.
func New(t T, args []string, env ...string) *Service {
	t.Helper()
	addrs, err := loopback.Addresses(3)
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{
		t: t, args: args, log: &Buffer{},
		URL: "http://" + addrs[0], Ops: "http://" + addrs[1], Kafka: addrs[2], Dir: t.TempDir(),
	}
	s.env = append(WithoutSettings(os.Environ()),
		"BAGTRAIL_HTTP_ADDR="+addrs[0], "BAGTRAIL_OPS_ADDR="+addrs[1],
		"BAGTRAIL_EMBEDDED_KAFKA_ADDR="+addrs[2], "BAGTRAIL_DATA_DIR="+s.Dir)
	s.env = append(s.env, env...)
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("log of bagtrail %s:\n%s", strings.Join(args, " "), s.brief())
		}
	})
	return s
}

// WithoutSettings returns an environment without settings of bagtrail, which the user may have set.
func WithoutSettings(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, "BAGTRAIL_") })
}

// For returns the same running service for another test, which then reports its failures.
func (s *Service) For(t T) *Service {
	other := *s
	other.t = t
	return &other
}

// Up starts the process and waits until it is ready.
func (s *Service) Up() {
	s.t.Helper()
	s.Launch()
	s.WaitReady(60 * time.Second)
}

// Launch starts the process without waiting.
func (s *Service) Launch() {
	s.t.Helper()
	if s.binary == "" {
		s.binary = Binary(s.t)
	}
	s.cmd = exec.Command(s.binary, s.args...)
	s.cmd.Env = s.env
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan<- error) { ended <- cmd.Wait() }(s.cmd, s.ended)
}

// WaitReady waits until /readyz says that the service is ready.
func (s *Service) WaitReady(patience time.Duration) {
	s.t.Helper()
	ok := s.Until(patience, func() bool {
		status, _ := s.TryGet(s.Ops + "/readyz")
		return status == http.StatusOK
	})
	if !ok {
		s.t.Fatalf("bagtrail %s is not ready after %v", strings.Join(s.args, " "), patience)
	}
}

// Until repeats the condition until it is true. It returns false when patience is over or the
// process ended.
func (s *Service) Until(patience time.Duration, condition func() bool) bool {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case err := <-s.ended:
			s.ended <- err
			return condition()
		case <-deadline.C:
			return false
		case <-tick.C:
		}
	}
	return true
}

// Signal sends a signal to the process.
func (s *Service) Signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Fatal(err)
	}
}

// Stop asks the process to end and returns its exit code.
func (s *Service) Stop() int {
	s.t.Helper()
	s.Signal(syscall.SIGTERM)
	return s.Wait(30 * time.Second)
}

// Wait waits for the process to end and returns its exit code, -1 if a signal ended it.
func (s *Service) Wait(patience time.Duration) int {
	s.t.Helper()
	select {
	case err := <-s.ended:
		s.ended <- err
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		s.t.Fatalf("bagtrail %s still runs after %v", strings.Join(s.args, " "), patience)
	}
	return -1
}

// Kill ends the process at once, as kill -9 does.
func (s *Service) Kill() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	err := <-s.ended
	s.ended <- err
}

// Log returns the output of the process, over all its starts.
func (s *Service) Log() string { return s.log.String() }

// brief returns the part of the log that explains a failure: no successful requests, and of the
// rest the end.
func (s *Service) brief() string {
	const most = 100
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(s.Log()), "\n"), func(line string) bool {
		return strings.Contains(line, `"level":"info"`) && strings.Contains(line, `"message":"request"`)
	})
	if left := len(lines) - most; left > 0 {
		lines = append([]string{fmt.Sprintf("… %d lines before", left)}, lines[left:]...)
	}
	return strings.Join(lines, "\n")
}

// Answer is an answer of the service.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Do sends a request with the development key. header holds pairs of names and values, which
// replace defaults. A target without host is an operation.
func (s *Service) Do(method, target string, body io.Reader, header ...string) Answer {
	s.t.Helper()
	answer, err := s.TryDo(method, target, body, header...)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer
}

// TryDo is Do for requests that may fail.
func (s *Service) TryDo(method, target string, body io.Reader, header ...string) (Answer, error) {
	if strings.HasPrefix(target, "/") {
		target = s.URL + target
	}
	req, err := http.NewRequest(method, target, body)
	if err != nil {
		return Answer{}, err
	}
	req.Header["api_key"] = []string{DevelopmentKey}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] == "" {
			delete(req.Header, header[i])
			continue
		}
		req.Header[header[i]] = []string{header[i+1]}
	}
	res, err := client.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	read, err := io.ReadAll(res.Body)
	if err != nil {
		return Answer{}, err
	}
	return Answer{res.StatusCode, res.Header, string(read)}, nil
}

var client = &http.Client{
	Timeout:       30 * time.Second,
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Get sends a GET of an operation.
func (s *Service) Get(target string, header ...string) Answer {
	s.t.Helper()
	return s.Do(http.MethodGet, target, nil, header...)
}

// TryGet returns status and body; the status is 0 if there is no answer.
func (s *Service) TryGet(target string) (int, string) {
	answer, err := s.TryDo(http.MethodGet, target, nil)
	if err != nil {
		return 0, ""
	}
	return answer.Status, answer.Body
}

// Metric returns the sum of a metric of the process over all labels that match; 0 if it cannot be
// read.
func (s *Service) Metric(name string, labels ...string) (sum float64) {
	status, text := s.TryGet(s.Ops + "/metrics")
	if status != http.StatusOK {
		return 0
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, name) || !containsAll(line, labels) {
			continue
		}
		var v float64
		if fields := strings.Fields(line); len(fields) > 0 {
			_, _ = fmt.Sscan(fields[len(fields)-1], &v) // 0 if it is no number
		}
		sum += v
	}
	return sum
}

func containsAll(s string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(s, p) })
}

// Process posts a message as JSON.
func (s *Service) Process(message string, header ...string) Answer {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"bim_message": message})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.Do(http.MethodPost, ProcessPath, bytes.NewReader(body), append([]string{"Content-Type", "application/json"}, header...)...)
}

// ProcessPath is the path of process BIM.
const ProcessPath = "/baggage/processbim/v1.0/"

// HistoryPath returns the target of a bag history.
func HistoryPath(plate, day string) string {
	return "/baggage/history/v1.0/tag/" + plate + "/flightdate/" + day
}

// FlightPath returns the target of the bags of a flight; indicator is D or A.
func FlightPath(airport, indicator, airline, number, day string) string {
	return "/baggage/bagsforflight/v1.0/airport_code/" + airport + "/arr_dep_indicator/" + indicator +
		"/airline_code/" + airline + "/flight_no/" + number + "/dep_flight_date/" + day
}

// PassengerPath returns the target of the bags of a passenger.
func PassengerPath(pnr, day string) string {
	return "/baggage/bagsforpassenger/v1.0/pnr/" + url.PathEscape(pnr) + "/dep_flight_date/" + day
}

// Run runs a command of the program and waits for its end.
func Run(ctx context.Context, t T, stdin string, args []string, env ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(ctx, Binary(t), args...)
	cmd.Env = append(WithoutSettings(os.Environ()), env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Buffer is a bytes.Buffer for concurrent use.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends to the buffer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns all that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// LimitData limits the data of the process, before it is started, to that many MiB: RLIMIT_DATA.
func (s *Service) LimitData(mebibytes int) {
	s.t.Helper()
	program := s.binary
	if program == "" {
		program = Binary(s.t)
	}
	s.binary = filepath.Join(s.t.TempDir(), "limited")
	script := fmt.Sprintf("#!/bin/sh\nulimit -d %d && exec '%s' \"$@\"\n", mebibytes<<10, program)
	if err := os.WriteFile(s.binary, []byte(script), 0o700); err != nil { //nolint:gosec // it must be executable
		s.t.Fatal(err)
	}
}

// Status returns a line of the process's status from the kernel, such as VmHWM; "" if there is
// none.
func (s *Service) Status(name string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut("\n"+string(text), "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(value)
}
