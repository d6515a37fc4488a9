package command_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"bagtrail/internal/command"
)

// terminal opens a pseudo-terminal. shown closes it and returns what a person would have seen pass.
func terminal(t *testing.T) (screen *os.File, shown func() string) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	var locked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, keyboard.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(keyboard) // the error is that the terminal was closed
		seen <- string(text)
	}()
	return screen, func() string {
		screen.Close()
		return <-seen
	}
}

func TestReplayClearsItsProgressBeforeADiagnostic(t *testing.T) {
	screen, shown := terminal(t)
	input := strings.NewReader(strings.Repeat(bsm, 500) + bad + bsm)
	code := command.Run(t.Context(), []string{"replay", "--kafka-brokers=off", "--split", "-"}, tools(t), input, screen, screen)
	text := shown()
	if code != command.Rejected {
		t.Fatalf("exit code %d: %s", code, text)
	}
	if want := "\r\x1b[K500 messages\r\x1b[K-:2501: BSM rejected"; !strings.Contains(text, want) {
		t.Errorf("no %q in %q", want, text)
	}
}
