package secret_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bagtrail/internal/secret"
)

func TestEachPurposeHasItsKey(t *testing.T) {
	one, other := secret.Secret(strings.Repeat("x", 32)), secret.Secret(strings.Repeat("y", 32))
	key := one.Key("a")
	if len(key) != 32 || !bytes.Equal(key, one.Key("a")) {
		t.Errorf("key %x, then %x", key, one.Key("a"))
	}
	if bytes.Equal(key, one.Key("b")) || bytes.Equal(key, other.Key("a")) {
		t.Error("another purpose or secret has the same key")
	}
}

func TestTheSecretOfAFileIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	first, made, err := secret.InFile(path)
	if err != nil || !made || len(first) < secret.Least {
		t.Fatalf("%d bytes, made %t, %v", len(first), made, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	again, made, err := secret.InFile(path)
	if err != nil || made || !bytes.Equal(first, again) {
		t.Errorf("%q, then %q, made %t, %v", first, again, made, err)
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := secret.InFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a short secret: %v", err)
	}
}
