// Package loopback finds addresses for programs that take an address instead of a listener. It is for tests only.
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

// Ports finds n different TCP ports on which nothing listens on loopback.
//
// They lie below the range from which systems give ports to outgoing connections. There a port that was free a moment
// ago may go to any client before the server listens on it; a server that was killed might not find its port free
// again; and a client that keeps dialling a dead port would one day be connected to itself. No other test process of this
// machine finds the same ports for the next minutes, so that a server may take its time until it listens.
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

// reservation is how long a port is kept for who has found it.
const reservation = 5 * time.Minute

// reserve keeps a port from other test processes; false where one of them has it. An empty file says so.
func reserve(port int) bool {
	dir := filepath.Join(os.TempDir(), "bagtrail-test-ports")
	path := filepath.Join(dir, strconv.Itoa(port))
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > reservation {
		_ = os.Remove(path) // if another process is faster, it has the port
	}
	_ = os.MkdirAll(dir, 0o700) // if it is not there, the file cannot be made
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return errors.Is(err, fs.ErrPermission) // another user's: there is nobody to agree with
	}
	_ = f.Close()
	return true
}

// Join returns the address of a port on loopback.
func Join(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Addresses finds n addresses on which nothing listens, as Ports does.
func Addresses(n int) ([]string, error) {
	ports, err := Ports(n)
	addresses := make([]string, len(ports))
	for i, port := range ports {
		addresses[i] = Join(port)
	}
	return addresses, err
}

// Address returns one such address, or ends the test.
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
