//go:build !linux

package web

import "net"

func limitSilence(*net.TCPConn) {}
