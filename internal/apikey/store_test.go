package apikey_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/operation"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// watchedStore is a store whose file the test changes.
type watchedStore struct {
	*apikey.Store
	t       *testing.T
	path    string
	version int
	ticks   chan time.Time
	reports chan error
}

func watch(t *testing.T, text string) *watchedStore {
	t.Helper()
	w := &watchedStore{t: t, path: filepath.Join(t.TempDir(), "keys.yaml"), ticks: make(chan time.Time), reports: make(chan error, 1)}
	w.put(text)
	store, err := apikey.Open(w.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Store = store
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		store.Watch(ctx, w.ticks, func(err error) { w.reports <- err })
	}()
	t.Cleanup(func() { stop(); <-ended })
	return w
}

// put replaces the file as a whole.
func (w *watchedStore) put(text string) {
	w.t.Helper()
	w.version++
	at := now.Add(time.Duration(w.version) * time.Second)
	next := w.path + ".next"
	err := errors.Join(os.WriteFile(next, []byte(text), 0o600), os.Chtimes(next, at, at), os.Rename(next, w.path))
	if err != nil {
		w.t.Fatal(err)
	}
}

// change replaces the file and returns what the store says of it.
func (w *watchedStore) change(text string) error {
	w.t.Helper()
	w.put(text)
	w.ticks <- now
	w.ticks <- now
	return <-w.reports
}

func entry(name, secret, more string) string {
	return fmt.Sprintf("  - {name: %s, digest: %s%s}\n", name, digest(secret), more)
}

func (w *watchedStore) finds(secret, name string) {
	w.t.Helper()
	k, found := w.Lookup(secret, now)
	if found != (name != "") || (k == nil) == found || found && k.Name != name {
		w.t.Errorf("%q finds %+v, want %q", secret, k, name)
	}
}

func TestAKeyIsFoundByItsTextAlone(t *testing.T) {
	w := watch(t, "keys:\n"+entry("app", "secret", "")+entry("old", "gone", ", revoked: true"))
	w.finds("secret", "app")
	for _, text := range []string{"", "gone", "Secret", "secret ", "app", digest("secret"), digest("secret")[7:]} {
		w.finds(text, "")
	}
}

func TestAnExpiredKeyIsUnknown(t *testing.T) {
	w := watch(t, "keys:\n"+entry("app", "secret", ", expires: 2026-11-21T12:00:00+01:00"))
	end := time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	if _, found := w.Lookup("secret", end.Add(-time.Nanosecond)); !found {
		t.Error("unknown before its end")
	}
	if _, found := w.Lookup("secret", end); found {
		t.Error("known at its end")
	}
}

func TestKeysRotateWithOverlap(t *testing.T) {
	w := watch(t, "keys:\n"+entry("app-1", "first", ""))
	if err := w.change("keys:\n" + entry("app-1", "first", "") + entry("app-2", "second", "")); err != nil {
		t.Fatal(err)
	}
	w.finds("first", "app-1")
	w.finds("second", "app-2")
	if err := w.change("keys:\n" + entry("app-1", "first", ", revoked: true") + entry("app-2", "second", "")); err != nil {
		t.Fatal(err)
	}
	w.finds("first", "")
	w.finds("second", "app-2")
}

func TestABrokenFileKeepsTheOldKeysUntilItIsMended(t *testing.T) {
	w := watch(t, "keys:\n"+entry("app", "secret", ""))
	for _, broken := range []string{
		"keys:\n" + entry("app", "secret", ", airline: [LX]") + entry("new", "other", ""), "", "keys: [", "keys:\n- name: app\n",
	} {
		if err := w.change(broken); err == nil || !strings.Contains(err.Error(), "key file") {
			t.Errorf("%q: %v", broken, err)
		}
		w.finds("secret", "app")
		w.finds("other", "")
	}
	if err := w.change("keys:\n" + entry("new", "other", "")); err != nil {
		t.Error(err)
	}
	w.finds("secret", "")
	w.finds("other", "new")

	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	w.ticks <- now
	if err := <-w.reports; !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	w.finds("other", "new")
}

func TestNoRequestIsJudgedByHalfAFile(t *testing.T) {
	versions := [2]string{
		"keys:\n" + entry("app", "secret", ", customer: A, airlines: [LX], airports: [ZRH], rate: 1, burst: 1000000"),
		"keys:\n" + entry("app", "secret", ", customer: B, airlines: [WK], airports: [GVA], rate: 2, burst: 1000000"),
	}
	w := watch(t, versions[0])
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				k, found := w.Lookup("secret", now)
				if !found || k.Take(now).Limit == 0 {
					t.Error("the key was gone for a moment")
					return
				}
				isA := k.Customer == "A"
				if k.Airline("LX") != isA || k.Airport("ZRH") != isA || k.Airline("WK") == isA || k.Airport("GVA") == isA || (k.Rate == 1) != isA {
					t.Errorf("half of each: %+v", k)
					return
				}
			}
		})
	}
	for i := range 50 {
		if err := w.change(versions[(i+1)%2]); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	readers.Wait()
}

func TestTheDevelopmentKeyHasEveryRight(t *testing.T) {
	store := apikey.Development()
	k, found := store.Lookup(apikey.DevelopmentKey, now)
	if !found || apikey.DevelopmentKey != "bagtrail-development" || k.Limited() || k.Customer == "" || !k.MayUse(operation.ProcessBIM) ||
		!k.MayUse(operation.History) || k.Take(now).Limit != 0 {
		t.Errorf("found %v: %+v", found, k)
	}
	for _, text := range []string{"", "bagtrail", "secret"} {
		if _, found := store.Lookup(text, now); found {
			t.Errorf("%q is found", text)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	store.Watch(ctx, nil, nil) // it has nothing to watch and ends with ctx
}

func TestAFileThatCannotBeUsedIsNotOpened(t *testing.T) {
	if _, err := apikey.Open(filepath.Join(t.TempDir(), "keys.yaml"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := apikey.Open(file(t, "keys: 1"), nil); err == nil || !strings.Contains(err.Error(), "line 1: keys: not a list") {
		t.Errorf("bad file: %v", err)
	}
}
