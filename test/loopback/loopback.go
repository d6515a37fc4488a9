// Package loopback finds addresses for programs that take an address instead of a listener, and has a
// server that leaves its clients hanging. It is for tests only.
package loopback

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Ports returns n different TCP ports on which nothing listens on loopback.
//
// They are below the range from which systems give ports to outgoing connections. In that range any
// client may take a free port before the server listens on it, a killed server might not get its
// port again, and a client that keeps dialling a closed port could connect to itself. For the next
// minutes no other test process of this machine gets the same ports.
func Ports(n int) ([]int, error) {
	const low, high = 10_000, 30_000
	ports := make([]int, 0, n)
	for range 100 * n {
		port := low + rand.IntN(high-low)
		if !reserve(port) {
			continue
		}
		l, err := net.Listen("tcp", Join(port))
		if err != nil {
			continue
		}
		defer func() { _ = l.Close() }() // at the end, so that no port is found twice
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("no free port on loopback")
}

// reservation is how long a port is reserved for the process that got it.
const reservation = 5 * time.Minute

// reserve reserves a port with an empty file. It returns false if another test process has the
// port.
func reserve(port int) bool {
	dir := filepath.Join(os.TempDir(), "bagtrail-test-ports")
	path := filepath.Join(dir, strconv.Itoa(port))
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > reservation {
		_ = os.Remove(path) // if another process is faster, it has the port
	}
	_ = os.MkdirAll(dir, 0o700) // if this fails, so does the creation of the file
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return errors.Is(err, fs.ErrPermission) // the file belongs to another user, with whom ports cannot be shared out
	}
	_ = f.Close()
	return true
}

// Join returns the address of a port on loopback.
func Join(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Addresses returns n addresses on which nothing listens; see Ports.
func Addresses(n int) ([]string, error) {
	ports, err := Ports(n)
	addresses := make([]string, len(ports))
	for i, port := range ports {
		addresses[i] = Join(port)
	}
	return addresses, err
}

// Address returns one address, or ends the test.
func Address(t interface {
	Helper()
	Fatal(args ...any)
},
) string {
	t.Helper()
	addresses, err := Addresses(1)
	if err != nil {
		t.Fatal(err)
	}
	return addresses[0]
}
