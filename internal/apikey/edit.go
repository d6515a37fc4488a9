package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"bagtrail/internal/wholefile"
)

// keyPrefix begins every key that Create makes, so that people and secret scanners recognise
// keys.
const keyPrefix = "bagtrail_"

// The errors of editing a key file.
var (
	ErrNoSuchKey = errors.New("no key with that name")
	errLayout    = errors.New("bagtrail cannot edit a key file with this layout: edit the file by hand")
)

// List returns the keys of a file in the order of the file, including expired and revoked ones.
func List(path string) ([]*Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return Parse(text)
}

// Create adds key to the file and returns the text of the new key, made of 32 random bytes. The
// file stores only its digest. Create makes the file if it does not exist, and leaves its other
// entries and its comments unchanged. If the file or the key is faulty, for example if the name is
// taken, Create returns an error and changes nothing.
func Create(path string, key Key) (text string, err error) {
	drawn := make([]byte, 32)
	_, _ = rand.Read(drawn) // never fails
	text = keyPrefix + base64.RawURLEncoding.EncodeToString(drawn)
	key.setBurst()
	key.digest, key.bucket = sha256.Sum256([]byte(text)), nil
	err = edit(path, func(file []byte, keys []*Key) ([]byte, []*Key, error) {
		file, err := insertEntry(file, &key)
		return file, append(keys, &key), err
	})
	if err != nil {
		return "", fmt.Errorf("create key %s: %w", key.Name, err)
	}
	return text, nil
}

// Revoke marks the key with that name as revoked. The entry stays, so that the name keeps its
// meaning in old logs and is not given to another key by mistake. Revoking a key again changes
// nothing.
func Revoke(path, name string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("revoke key %s: %w", name, err)
	}
	err := edit(path, func(file []byte, keys []*Key) ([]byte, []*Key, error) {
		i := slices.IndexFunc(keys, func(key *Key) bool { return key.Name == name })
		if i < 0 {
			return nil, nil, ErrNoSuchKey
		}
		file, err := markRevoked(file, i)
		keys[i].Revoked = true
		return file, keys, err
	})
	if err != nil {
		return fmt.Errorf("revoke key %s: %w", name, err)
	}
	return nil
}

// edit calls change with the text and the keys of a file, and writes the text that change returns.
// If Parse does not read exactly the keys that change returns from that text, edit writes nothing and
// returns errLayout. A lock on the directory of the file serialises edits. A reader sees the file
// either before or after the edit.
func edit(path string, change func(file []byte, keys []*Key) ([]byte, []*Key, error)) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // replace the file, not the link
	}
	lock, err := wholefile.AwaitLock(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer func() { _ = lock.Close() }()

	file, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var keys []*Key
	if err == nil {
		if keys, err = Parse(file); err != nil {
			return err
		}
	}
	file, want, err := change(file, keys)
	if err != nil {
		return err
	}
	got, err := Parse(file)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got, want, func(x, y *Key) bool { return slices.Equal(members(x), members(y)) }) {
		return errLayout
	}
	return wholefile.Write(path, file)
}
