// Command up starts and stops the real servers of a test run. It starts the named servers that do
// not run yet, and stops servers by process id. Servers outlive the command. .ci/servers installs
// the programs and then calls it.
//
//	up [-state DIR] [-appendfsync everysec|always|no] start [redis] [kafka] [kafka39]
//	up [-state DIR] status
//	up [-state DIR] stop
//
// start and status print one shell line for each server: an export of the variable by which package
// servers finds it. Without names, start means all.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"bagtrail/test/servers/program"
)

func main() {
	state := flag.String("state", ".cache/servers", "folder that remembers what runs")
	fsync := flag.String("appendfsync", "everysec", "when Redis writes to disk: everysec, always, no (no file at all)")
	flag.Parse()
	if err := run(*state, *fsync, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func run(state, fsync string, args []string) error {
	if len(args) == 0 {
		return errors.New("say start, status or stop")
	}
	unlock, err := lock(state)
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
		return k.start(fsync, args[1:])
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
func lock(state string) (unlock func(), err error) {
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
	Dir      string `json:"dir"` // in the command line of each of its processes
	Pids     []int  `json:"pids"`
}

func (s server) alive() bool {
	return len(s.Pids) > 0 && !slices.ContainsFunc(s.Pids, func(pid int) bool { return !program.RunsFrom(pid, s.Dir) })
}

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
	for _, name := range names {
		if s, ok := k.servers[name]; ok {
			fmt.Printf("export %s='%s'\n", s.Variable, s.Value)
		}
	}
}

// names are the servers in the order of output.
var names = []string{"redis", "kafka", "kafka39"}

// starters make a server in a folder of its own and start it.
var starters = map[string]func(ctx context.Context, home program.Home, fsync string) (server, error){
	"redis": startRedis,
	"kafka": func(ctx context.Context, home program.Home, _ string) (server, error) {
		return startKafka(ctx, home, program.Kafka4, "BAGTRAIL_TEST_KAFKA")
	},
	"kafka39": func(ctx context.Context, home program.Home, _ string) (server, error) {
		return startKafka(ctx, home, program.Kafka39, "BAGTRAIL_TEST_KAFKA39")
	},
}

func (k *keeper) start(fsync string, wanted []string) error {
	const limit = 2 * time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // half-started servers end too
	defer stop()
	if len(wanted) == 0 {
		wanted = slices.Clone(names)
	}
	for _, name := range wanted {
		if starters[name] == nil {
			return fmt.Errorf("%q: say one of %s", name, strings.Join(names, ", "))
		}
	}
	k.forgetDead()
	wanted = slices.DeleteFunc(wanted, func(name string) bool { return k.servers[name].alive() })
	errs := make([]error, len(wanted))
	var all sync.WaitGroup
	for i, name := range wanted {
		all.Go(func() { errs[i] = k.add(ctx, name, fsync) })
	}
	all.Wait()
	k.print()
	return errors.Join(errs...)
}

func (k *keeper) add(ctx context.Context, name, fsync string) error {
	begun := time.Now()
	dir, err := os.MkdirTemp("", "bagtrail-"+name+"-")
	if err != nil {
		return err
	}
	s, err := starters[name](ctx, program.Home{Dir: dir, Outlive: true}, fsync)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	s.Dir = dir
	k.mu.Lock()
	defer k.mu.Unlock()
	k.servers[name] = s
	fmt.Fprintf(os.Stderr, "servers: %s is up after %s\n", name, time.Since(begun).Round(100*time.Millisecond))
	return k.save()
}

func startRedis(ctx context.Context, home program.Home, fsync string) (server, error) {
	settings := "appendfsync " + fsync
	if fsync == "no" {
		settings = "appendonly no"
	}
	p, err := program.NewRedis(home, settings)
	if err != nil {
		return server{}, err
	}
	return server{Variable: "BAGTRAIL_TEST_REDIS", Value: "redis://" + p.Addr}.started(p.Start(ctx), p)
}

func startKafka(ctx context.Context, home program.Home, version, variable string) (server, error) {
	p, err := program.NewKafka(ctx, home, version)
	if err != nil {
		return server{}, err
	}
	return server{Variable: variable, Value: p.Addr}.started(p.Start(ctx), p)
}

// started records the processes, or ends them all if one did not start.
func (s server) started(err error, processes ...*program.Process) (server, error) {
	for _, p := range processes {
		if err != nil {
			_ = p.Close()
			continue
		}
		s.Pids = append(s.Pids, p.Pid())
	}
	return s, err
}

// forgetDead removes every server that has lost a process, and ends the rest of it.
func (k *keeper) forgetDead() {
	for name, s := range k.servers {
		if !s.alive() {
			s.end()
			delete(k.servers, name)
		}
	}
}

func (k *keeper) stop() error {
	for name, s := range k.servers {
		s.end()
		delete(k.servers, name)
	}
	return k.save()
}

// end kills the remaining processes of the server and removes its data. A process id that now
// belongs to another program is left alone.
func (s server) end() {
	for _, pid := range s.Pids {
		program.KillFrom(pid, s.Dir)
	}
	_ = os.RemoveAll(s.Dir)
}
