package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"bagtrail/internal/apikey"
)

// readKeys brings the keys into force: those of the key file, else the development key, which everybody knows, on
// loopback, and a key of our own elsewhere.
func (s *service) readKeys(context.Context) (err error) {
	if !s.open.http {
		return nil
	}
	path := s.conf.Files.Keys
	if path == "" && s.conf.HTTP.Loopback() {
		s.keys = apikey.Development()
		s.log.Warn("without a key file there is one key, the development key of the README, and everybody knows it",
			zap.String("replaced_by", "BAGTRAIL_KEYS_FILE"))
		return nil
	}
	if path == "" {
		if path, err = s.ownKey(); err != nil {
			return err
		}
	}
	if s.keys, err = apikey.Open(path, s.airlines); err != nil {
		return unusable(err)
	}
	s.watch("key file", s.keys.Watch)
	return nil
}

// The key that serve makes: its name, and its file in the data directory.
const (
	ownKeyName = "serve"
	ownKeyFile = "keys.yaml"
)

// ownKey returns the name of the key file in the data directory. If there is none, ownKey makes one with a key of every
// right, and prints the key to stdout: this once, since the file holds only its digest.
func (s *service) ownKey() (path string, err error) {
	path = filepath.Join(s.conf.DataDir, ownKeyFile)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, failed(err)
	}
	if err := os.MkdirAll(s.conf.DataDir, 0o700); err != nil {
		return "", failed(err)
	}
	everything := apikey.Scope{All: true}
	key := apikey.Key{Name: ownKeyName, Customer: "SERVE", Airlines: everything, Airports: everything, Operations: everything}
	text, err := apikey.Create(path, key, rand.Reader)
	if err != nil {
		return "", unusable(err)
	}
	if _, err := io.WriteString(s.keyOut, text+"\n"); err != nil {
		return "", failed(errors.Join(fmt.Errorf("print the new key: %w", err), os.Remove(path))) // nobody knows it
	}
	s.log.Warn("an API key was made and printed to stdout; it is not shown again", zap.String("name", ownKeyName),
		zap.String("file", path), zap.String("replaced_by", "BAGTRAIL_KEYS_FILE"))
	return path, nil
}
