package command

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"go.uber.org/zap"

	"bagtrail/internal/secret"
)

// openSecret reads the secret of the installation from the settings. If it is missing, and the
// process runs the in-process broker or Redis, so that no other process needs the same secret,
// openSecret makes one in the data directory. An in-process broker has locked that directory by
// now. Without this broker, only the secret needs the directory. So if the secret can be neither
// read nor written there, the service runs without a secret.
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
	path := filepath.Join(s.conf.DataDir, "secret")
	var made bool
	s.secret, made, err = secret.InFile(path)
	_, unreachable := errors.AsType[*fs.PathError](err)
	switch {
	case unreachable && !s.conf.Kafka.InProcess():
		s.log.Warn("the secret can be neither read nor made, so there are no browser sessions", zap.String("instead", "BAGTRAIL_SECRET"), zap.Error(err))
	case err != nil:
		return fileError(err)
	case made:
		s.log.Info("a secret was made for this data directory", zap.String("file", path), zap.String("replaced_by", "BAGTRAIL_SECRET"))
	}
	return nil
}
