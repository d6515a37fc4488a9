package blackbox_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"bagtrail/test/loopback"
	"bagtrail/test/service"
	"bagtrail/test/terminal"
)

// Ctrl-C in `make run` reaches make too. make must report no error.
func TestCtrlCInMakeRunIsNoError(t *testing.T) {
	ownServers(t)
	keyboard, screen := terminal.Open(t)
	cmd := exec.CommandContext(t.Context(), "make", "-C", filepath.Join("..", ".."), "run")
	cmd.Env = append(service.WithoutSettings(os.Environ()), "BAGTRAIL_DATA_DIR="+t.TempDir(), "BAGTRAIL_LOG_FORMAT=json")
	for _, variable := range []string{"BAGTRAIL_HTTP_ADDR", "BAGTRAIL_OPS_ADDR", "BAGTRAIL_EMBEDDED_KAFKA_ADDR"} {
		cmd.Env = append(cmd.Env, variable+"="+loopback.Address(t))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen.Close()
	shown := make(chan string, 1)
	go func() {
		var text []byte
		pressed := false
		for piece := make([]byte, 4096); ; {
			n, err := keyboard.Read(piece)
			if err != nil { // the terminal is closed
				shown <- string(text)
				return
			}
			text = append(text, piece[:n]...)
			if !pressed && bytes.Contains(text, []byte(`"message":"ready"`)) {
				pressed = true
				_, _ = keyboard.WriteString("\x03")
			}
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if text := <-shown; err != nil || !bytes.Contains([]byte(text), []byte(`"message":"stopping"`)) || bytes.Contains([]byte(text), []byte("***")) {
			t.Errorf("%v: %s", err, text)
		}
	case <-time.After(3 * time.Minute): // includes the build
		_ = cmd.Process.Kill()
		<-ended
		t.Errorf("it does not end: %s", <-shown)
	}
}
