// Command up starts and stops the real servers of a test run. It starts the named servers that do
// not run yet, and stops servers by process id. Servers outlive the command. .ci/servers installs
// the programs and then calls it in the folder of the module.
//
//	up start [redis] [kafka] [kafka39]
//	up status
//	up stop
//
// start and status print one shell line for each server: an export of the variable by which package
// servers finds it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"bagtrail/test/servers/program"
)

// state is the folder that remembers what runs.
const state = ".cache/servers"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("say start, status or stop")
	}
	unlock, err := lock()
	if err != nil {
		return err
	}
	defer unlock()
	k := &keeper{file: filepath.Join(state, "servers.json"), servers: map[string]server{}}
	if err := k.load(); err != nil {
		return err
	}
	switch args[0] {
	case "start":
		return k.start(args[1:])
	case "status":
		k.forgetDead()
		k.print()
		return nil
	case "stop":
		return k.stop()
	}
	return fmt.Errorf("%q: say start, status or stop", args[0])
}

// lock makes the folder and waits until no other command uses it.
func lock() (unlock func(), err error) {
	if err := os.MkdirAll(state, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(state, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	return func() { _ = file.Close() }, syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
}

// A server is what up needs to use and stop a server.
type server struct {
	Variable string `json:"variable"`
	Value    string `json:"value"`
	Dir      string `json:"dir"` // in the command line of its process
	Pid      int    `json:"pid"`
}

func (s server) alive() bool { return program.RunsFrom(s.Pid, s.Dir) }

type keeper struct {
	file string

	mu      sync.Mutex
	servers map[string]server
}

func (k *keeper) load() error {
	text, err := os.ReadFile(k.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &k.servers)
}

func (k *keeper) save() error {
	text, err := json.MarshalIndent(k.servers, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(k.file, text, 0o644)
}

func (k *keeper) print() {
	for _, s := range k.servers {
		fmt.Printf("export %s='%s'\n", s.Variable, s.Value)
	}
}

// known are the servers by name. prepare makes one in a folder of its own.
var known = map[string]struct {
	variable, scheme string
	prepare          func(context.Context, program.Home) (*program.Process, error)
}{
	"redis": {"BAGTRAIL_TEST_REDIS", "redis://", func(_ context.Context, home program.Home) (*program.Process, error) {
		return program.NewRedis(home)
	}},
	"kafka":   {"BAGTRAIL_TEST_KAFKA", "", kafka(program.Kafka4)},
	"kafka39": {"BAGTRAIL_TEST_KAFKA39", "", kafka(program.Kafka39)},
}

func kafka(version string) func(context.Context, program.Home) (*program.Process, error) {
	return func(ctx context.Context, home program.Home) (*program.Process, error) {
		return program.NewKafka(ctx, home, version)
	}
}

func (k *keeper) start(wanted []string) error {
	const limit = 2 * time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // half-started servers end too
	defer stop()
	k.forgetDead()
	wanted = slices.DeleteFunc(wanted, func(name string) bool { return k.servers[name].alive() })
	errs := make([]error, len(wanted))
	var all sync.WaitGroup
	for i, name := range wanted {
		all.Go(func() { errs[i] = k.add(ctx, name) })
	}
	all.Wait()
	k.print()
	return errors.Join(errs...)
}

func (k *keeper) add(ctx context.Context, name string) error {
	begun := time.Now()
	kind, ok := known[name]
	if !ok {
		return fmt.Errorf("%q: say redis, kafka or kafka39", name)
	}
	dir, err := os.MkdirTemp("", "bagtrail-"+name+"-")
	if err != nil {
		return err
	}
	p, err := kind.prepare(ctx, program.Home{Dir: dir, Outlive: true})
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	if err := p.Start(ctx); err != nil {
		p.Close()
		return errors.Join(err, os.RemoveAll(dir))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.servers[name] = server{Variable: kind.variable, Value: kind.scheme + p.Addr, Dir: dir, Pid: p.Pid()}
	fmt.Fprintf(os.Stderr, "servers: %s is up after %s\n", name, time.Since(begun).Round(100*time.Millisecond))
	return k.save()
}

// forgetDead removes every server that has ended, with its data.
func (k *keeper) forgetDead() {
	for name, s := range k.servers {
		if !s.alive() {
			s.end()
			delete(k.servers, name)
		}
	}
}

func (k *keeper) stop() error {
	for _, s := range k.servers {
		s.end()
	}
	clear(k.servers)
	return k.save()
}

// end kills the server if it runs, and removes its data. A process id that now belongs to another
// program is left alone.
func (s server) end() {
	program.KillFrom(s.Pid, s.Dir)
	_ = os.RemoveAll(s.Dir)
}
