package program

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// FreePorts finds n different TCP ports on which nothing listens on loopback.
//
// They lie below the range from which systems give ports to outgoing
// connections: a server that was killed must find its port free again, and a
// client that keeps dialling a dead port inside that range will one day be
// connected to itself.
func FreePorts(n int) ([]int, error) {
	const low, high = 10_000, 30_000
	ports := make([]int, 0, n)
	for range 100 * n {
		port := low + rand.IntN(high-low)
		l, err := net.Listen("tcp", loopback(port))
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

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
