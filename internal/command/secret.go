package command

import (
	"context"
	"path/filepath"

	"go.uber.org/zap"

	"bagtrail/internal/secret"
)

// openSecret reads the secret of the installation from the settings. If it is missing, and the
// process runs the in-process broker, openSecret makes a secret in the data directory, which the
// broker has locked by now.
func (s *service) openSecret(context.Context) (err error) {
	switch {
	case !s.opens(httpDoor):
		return nil
	case s.conf.Secret != "":
		s.secret = secret.Secret(s.conf.Secret)
		return nil
	case !s.conf.Kafka.InProcess():
		return nil
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
