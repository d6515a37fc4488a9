package telemetry_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/internal/telemetry"
)

// failing is a listener whose next Accepts fail.
type failing struct {
	net.Listener
	errors []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errors) == 0 {
		return f.Listener.Accept()
	}
	err := f.errors[0]
	f.errors = f.errors[1:]
	return nil, err
}

func TestAListenerWithoutDescriptorsSaysSoAndGoesOn(t *testing.T) {
	open, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	core, logged := observer.New(zapcore.WarnLevel)
	l := telemetry.RetryAccept(&failing{open, []error{syscall.EMFILE, syscall.ENFILE}}, zap.New(core))
	caller, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = caller.Close() }()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = accepted.Close()
	warnings := logged.FilterMessageSnippet("connections cannot be accepted").All()
	if len(warnings) != 2 || warnings[0].ContextMap()["error"] != syscall.EMFILE.Error() {
		t.Errorf("warnings %v", warnings)
	}
	_ = l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) || logged.Len() != 2 {
		t.Errorf("once it is closed: %v, %d warnings", err, logged.Len())
	}
}
