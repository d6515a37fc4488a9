package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"bagtrail/internal/apikey"
)

// openKeys reads the API keys and watches their file. If the settings name no file and the HTTP
// address is not loopback, it makes a key file.
func (s *service) openKeys(context.Context) (err error) {
	if !s.opens(httpDoor) {
		return nil
	}
	if s.conf.Files.Keys == "" && s.keysFile() != "" {
		if err := s.makeOwnKey(); err != nil {
			return err
		}
	}
	if s.keys, err = s.readKeys(); err != nil {
		return err
	}
	if s.keysFile() == "" {
		s.log.Warn("without a key file there is one key, the development key of the README, and everybody knows it",
			zap.String("replaced_by", "BAGTRAIL_KEYS_FILE"))
		return nil
	}
	s.watch(keysSetting, s.keys.Watch)
	return nil
}

// keysFile returns the name of the key file, or "" for the development key, which everybody knows.
func (s *service) keysFile() string {
	if s.conf.Files.Keys == "" && !s.conf.HTTP.Loopback() {
		return filepath.Join(s.conf.DataDir, "keys.yaml") // serve makes it
	}
	return s.conf.Files.Keys
}

// readKeys returns the API keys of a service with these settings.
func (s *service) readKeys() (*apikey.Store, error) {
	if s.keysFile() == "" {
		return apikey.Development(), nil
	}
	keys, err := apikey.Open(s.keysFile(), s.airlines)
	if err != nil {
		return nil, wrongFile(keysSetting, err)
	}
	return keys, nil
}

// makeOwnKey makes a key file with one key that has every right, unless the file exists. It prints
// the key to stdout, only this once, since the file holds only its digest.
func (s *service) makeOwnKey() error {
	path := s.keysFile()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(s.conf.DataDir, 0o700); err != nil {
		return err
	}
	everything := apikey.Scope{All: true}
	key := apikey.Key{Name: "serve", Customer: "SERVE", Airlines: everything, Airports: everything, Operations: everything}
	text, err := apikey.Create(path, key)
	if err != nil {
		return fileError(err)
	}
	if _, err := io.WriteString(s.stdout, text+"\n"); err != nil {
		return errors.Join(fmt.Errorf("print the new key: %w", err), os.Remove(path)) // nobody knows the key
	}
	s.log.Warn("an API key was made and printed to stdout; it is not shown again", zap.String("name", key.Name),
		zap.String("file", path), zap.String("replaced_by", "BAGTRAIL_KEYS_FILE"))
	return nil
}
