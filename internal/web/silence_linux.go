package web

import (
	"net"
	"syscall"
)

// tcpUserTimeout is the option TCP_USER_TIMEOUT, which package syscall does not name.
const tcpUserTimeout = 18

// limitSilence makes the system end a connection whose other end confirms nothing of what is sent
// for writeLimit. By default that takes a quarter of an hour. The time limit of writes alone does
// not help, since the system takes hundreds of KiB before a write has to wait.
func limitSilence(conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(writeLimit.Milliseconds()))
	})
}
