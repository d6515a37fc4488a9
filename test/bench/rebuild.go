package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/kafka"
	"bagtrail/internal/redis"
)

// rebuildLine is line 11: rebuilding the in-process index from the log of the in-process broker, against the same
// commands sent bare to an in-process Redis.
func rebuildLine(ctx context.Context, b *bench) ([]row, error) {
	messages, _ := feed(b.size(20_000))
	broker, err := b.embeddedKafka()
	if err != nil {
		return nil, err
	}
	k := &kafkaServer{brokers: []string{broker}}
	topics, err := fill(ctx, k, messages)
	if err != nil {
		return nil, err
	}
	door, closeDoor, err := openDoor(ctx, k.brokers, "unused", topics)
	if err != nil {
		return nil, err
	}
	defer closeDoor()
	commands, err := record(ctx, door)
	if err != nil {
		return nil, err
	}
	reports := 0
	p, err := b.alternate(
		func() (float64, error) {
			store, err := openIndex("")
			if err != nil {
				return 0, err
			}
			defer store.Close()
			progress, err := rebuild(ctx, door, store, func(kafkadoor.Progress) { reports++ })
			return float64(progress.Messages) / progress.Elapsed.Seconds(), err
		},
		func() (float64, error) {
			took, err := sendBare(commands)
			return float64(len(messages)) / took.Seconds(), err
		})
	if err != nil {
		return nil, err
	}
	return []row{{
		"11", fmt.Sprintf("rebuild of the in-process index, messages/s (%s messages, %d reports of progress)", thousands(float64(len(messages))), reports/(b.runs+1)),
		thousands(p.ours.median()), thousands(p.reference.median()), p.ratioAndCPU(), "≥ 0.6 ×, progress", verdictOf(p.ratios().median() >= 0.6 && reports > 0),
	}}, nil
}

func rebuild(ctx context.Context, door *kafkadoor.Door, store *index, report func(kafkadoor.Progress)) (kafkadoor.Progress, error) {
	return door.Rebuild(ctx, newAcceptor(store), kafka.Start{}, report)
}

// record rebuilds once through a recorder, and returns the commands of each connection as they were sent.
func record(ctx context.Context, door *kafkadoor.Door) (map[net.Conn][]byte, error) {
	server, err := miniredis.Run()
	if err != nil {
		return nil, err
	}
	defer server.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	sent := map[net.Conn][]byte{}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go relay(conn, server.Addr(), func(text []byte) {
				mu.Lock()
				defer mu.Unlock()
				sent[conn] = append(sent[conn], text...)
			})
		}
	}()
	store, err := openIndex("redis://" + listener.Addr().String())
	if err != nil {
		return nil, err
	}
	if _, err := rebuild(ctx, door, store, nil); err != nil {
		return nil, err
	}
	err = store.Close()
	listener.Close()
	mu.Lock()
	defer mu.Unlock()
	return sent, err
}

// relay passes on what comes, and shows it.
func relay(conn net.Conn, addr string, show func([]byte)) {
	defer conn.Close()
	server, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer server.Close()
	go io.Copy(conn, server)
	buffer := make([]byte, 256<<10)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		show(buffer[:n])
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// sendBare sends recorded commands to a new in-process Redis, over as many connections in memory, and waits for the answer to the
// last of each.
func sendBare(commands map[net.Conn][]byte) (time.Duration, error) {
	server := miniredis.NewMiniRedis()
	first, err := server.Dial() // starts a server without a port
	if err != nil {
		return 0, err
	}
	defer server.Close()
	defer first.Close()
	var wg sync.WaitGroup
	errs := make(chan error, len(commands))
	began := time.Now()
	for _, text := range commands {
		conn, end := redis.Pipe()
		server.Server().ServeConn(end)
		wg.Go(func() { errs <- sendAll(conn, text) })
	}
	wg.Wait()
	took := time.Since(began)
	close(errs)
	for err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return took, nil
}

func sendAll(conn net.Conn, text []byte) error {
	defer conn.Close()
	answered := make(chan error, 1)
	go func() {
		in := bufio.NewReaderSize(conn, 64<<10)
		for {
			line, err := in.ReadSlice('\n')
			if err != nil || string(line) == "$8\r\n" { // of the echo below; nothing else is answered so
				answered <- err
				return
			}
		}
	}()
	if _, err := conn.Write(text); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("*2\r\n$4\r\nECHO\r\n$8\r\nthe last\r\n")); err != nil {
		return err
	}
	return <-answered
}
