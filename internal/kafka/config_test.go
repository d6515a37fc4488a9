package kafka_test

import (
	"net"
	"testing"

	"bagtrail/internal/kafka"
)

func TestOpenConnectsToNothing(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := kafka.Open(kafka.Config{Brokers: []string{addr}}); err != nil {
		t.Error(err)
	}
}
