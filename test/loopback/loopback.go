// Package loopback finds addresses for programs that take an address instead of a listener. It is for tests only.
package loopback

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports finds n different TCP ports on which nothing listens on loopback.
//
// They lie below the range from which systems give ports to outgoing connections. There a port that was free a moment
// ago may go to any client before the server listens on it; a server that was killed might not find its port free
// again; and a client that keeps dialling a dead port would one day be connected to itself.
func Ports(n int) ([]int, error) {
	const low, high = 10_000, 30_000
	ports := make([]int, 0, n)
	for range 100 * n {
		port := low + rand.IntN(high-low)
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
