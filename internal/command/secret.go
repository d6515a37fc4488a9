package command

import (
	"context"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"bagtrail/internal/secret"
)

// openSecret reads the secret of the installation from the settings. If it is missing, and the
// process runs the in-process broker or Redis, so that no other process needs the same secret,
// openSecret makes one in the data directory. The broker has locked that directory by now.
func (s *service) openSecret(context.Context) (err error) {
	switch {
	case !s.opens(httpDoor):
		return nil
	case s.conf.Secret != "":
		s.secret = secret.Secret(s.conf.Secret)
		return nil
	case !s.conf.Kafka.InProcess() && !s.redis.InProcess():
		return nil
	}
	if err := os.MkdirAll(s.conf.DataDir, 0o700); err != nil {
		return failed(err)
	}
	path := filepath.Join(s.conf.DataDir, "secret")
	var made bool
	if s.secret, made, err = secret.InFile(path); err != nil {
		return fileError(err)
	}
	if made {
		s.log.Info("a secret was made for this data directory", zap.String("file", path), zap.String("replaced_by", "BAGTRAIL_SECRET"))
	}
	return nil
}
