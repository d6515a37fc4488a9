package blackbox_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"bagtrail/test/loopback"
	"bagtrail/test/service"
)

// residentLimit is the most memory that validate and replay may use, whatever their input.
const residentLimit = 80 << 20

// traffic is a capture of that many bytes, made while it is read: messages of one bag and sometimes
// the most expensive input, the longest message that is accepted and one that is too long.
type traffic struct {
	left int64
	next []byte
	n    int
}

func (r *traffic) Read(p []byte) (int, error) {
	if len(r.next) == 0 {
		if r.left <= 0 {
			return 0, io.EOF
		}
		r.next = r.message()
		r.left -= int64(len(r.next))
	}
	n := copy(p, r.next)
	r.next = r.next[n:]
	return n, nil
}

func (r *traffic) message() []byte {
	r.n++
	text := fmt.Appendf(nil, "BSM\r\n.V/1LZRH\r\n.F/LX%d/12MAR/JFK/Y\r\n.N/0724%06d001\r\n.S/Y/12A/C\r\n.P/1MUELLER/ANNAMRS\r\n.L/ABC123\r\n", r.n%999+1, r.n%1e6)
	switch {
	case r.n%20_000 == 0:
		text = append(text, bytes.Repeat([]byte(".R/TOO LONG\r\n"), 100_000)...)
	case r.n%2_000 == 0:
		text = append(text, bytes.Repeat([]byte(".R/LONG\r\n"), 7_000)...)
	}
	return append(text, "ENDBSM\r\n"...)
}

// resident runs the program on an input. It returns the exit code and the peak of its memory in
// bytes.
func resident(t *testing.T, input io.Reader, args []string, env ...string) (code int, peak int64, stdout, stderr string) {
	t.Helper()
	var out, errs tail
	cmd := exec.CommandContext(t.Context(), service.Binary(t), args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, input, &out, &errs
	_ = cmd.Run() // the exit code tells
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("the system does not tell how much memory a process had")
	}
	peak = usage.Maxrss
	if runtime.GOOS != "darwin" {
		peak <<= 10
	}
	return cmd.ProcessState.ExitCode(), peak, out.String(), errs.String()
}

// tail keeps the end of what is written to it.
type tail struct{ end []byte }

func (w *tail) Write(p []byte) (int, error) {
	w.end = append(w.end, p...)
	w.end = w.end[max(0, len(w.end)-1000):]
	return len(p), nil
}

func (w *tail) String() string { return string(w.end) }

// A capture of any size is read in bounded memory, and so is a file that is far too long for a
// message.
func TestStreamsAreReadInBoundedMemory(t *testing.T) {
	ownServers(t)
	const size = 120 << 20
	inProcess := []string{"BAGTRAIL_DATA_DIR=" + t.TempDir(), "BAGTRAIL_EMBEDDED_KAFKA_ADDR=" + loopback.Address(t)}
	for _, tc := range []struct {
		args  []string
		input io.Reader
		env   []string
		says  string
	}{
		{[]string{"validate", "--split"}, &traffic{left: size}, nil, "\nmessages: "},
		{[]string{"validate", "--split", "--json"}, &traffic{left: size}, nil, `"accepted":`},
		{[]string{"validate", "--json"}, io.MultiReader(strings.NewReader("BSM\n"), &traffic{left: size}), nil, `"code":"SVCSRV003"`},
		{[]string{"replay", "--split", "--received", "2026-03-14T08:00:00Z", "-"}, &traffic{left: size}, inProcess, "\nmessages: "},
		{[]string{"validate", "--split"}, io.LimitReader(zeros{}, size), nil, "\nmessages: 1, rejected: 1\n"},
	} {
		begun := time.Now()
		code, peak, stdout, stderr := resident(t, tc.input, tc.args, tc.env...)
		if code != 1 || !strings.Contains(stdout, tc.says) {
			t.Errorf("%q: exit code %d, %s%s", tc.args, code, stdout, stderr)
		}
		if peak > residentLimit {
			t.Errorf("%q: %d MiB resident, want at most %d", tc.args, peak>>20, residentLimit>>20)
		}
		t.Logf("%q: %d MiB of input, %d MiB resident, %.1f s", tc.args, size>>20, peak>>20, time.Since(begun).Seconds())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// The first SIGTERM ends a command that waits for standard input or a named pipe.
func TestTheFirstSignalEndsACommandThatWaitsForInput(t *testing.T) {
	ownServers(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"validate"}, {"validate", "--split"}, {"replay", "--kafka-brokers=off", "-"}, {"replay", "--kafka-brokers=off", "--split", "-"},
		{"validate", "--split", "-", pipe}, {"rejects", "resubmit", "ID", "--key", "k", "--text", "-"},
	} {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), service.Binary(t), args...)
		cmd.Env, cmd.Stderr = []string{}, &stderr
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The text is longer than the buffer of a pipe and shorter than a message may be: once it
		// is written, the program is reading.
		if _, err := io.WriteString(input, strings.Repeat("\n", 200<<10)); err != nil {
			t.Fatal(err)
		}
		if args[len(args)-1] == pipe {
			_ = input.Close()
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			t.Errorf("%q does not end", args)
			<-ended
		}
		if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(stderr.String(), "stopped early") {
			t.Errorf("%q: exit code %d, %s", args, code, stderr.String())
		}
	}
}

// The hangup of the terminal ends a demo like any other signal, so that nothing of it is left.
func TestADemoWhoseTerminalIsClosedKeepsNothing(t *testing.T) {
	ownServers(t)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // or the demo would ignore it if this test does, as under nohup
	defer signal.Stop(hangup)
	temporary := t.TempDir()
	demo := service.StartCommand(t, []string{"serve", "--demo"}, "TMPDIR="+temporary, "BAGTRAIL_DATA_DIR=")
	demo.Signal(syscall.SIGHUP)
	code := demo.Wait(time.Minute)
	left, err := os.ReadDir(temporary)
	if code != 0 || err != nil || len(left) > 0 {
		t.Errorf("exit code %d; %v is left, %v", code, left, err)
	}
}
