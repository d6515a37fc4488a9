// Package secret derives the keys of an installation from its one secret (BAGTRAIL_SECRET), so that
// no derived key needs to be stored. The same secret and purpose give the same key in every process.
package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bagtrail/internal/wholefile"
)

// Least is the length of the shortest secret, in bytes.
const Least = 32

// Secret is the secret of an installation. A nil Secret means that there is none.
type Secret []byte

// Key returns the key for a purpose: 32 bytes, the HMAC-SHA256 of the purpose under the secret.
// Purposes are unique in the program, such as "webhook/<id>/<number>". Key must not be called on a
// nil Secret.
func (s Secret) Key(purpose string) []byte {
	mac := hmac.New(sha256.New, s)
	mac.Write([]byte(purpose))
	return mac.Sum(nil)
}

// InFile returns the secret in a file. If there is no file, it makes the directory and a file with a
// new random secret, which its owner alone may read. Two processes must not call it for one file at
// the same time.
func InFile(path string) (s Secret, made bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		random := make([]byte, Least)
		_, _ = rand.Read(random) // never fails
		s = Secret(hex.EncodeToString(random))
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = wholefile.Write(path, []byte(string(s)+"\n"))
		}
		if err != nil {
			return nil, false, err
		}
		return s, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	if s = Secret(strings.TrimSpace(string(text))); len(s) < Least {
		return nil, false, fmt.Errorf("%s holds less than %d bytes", path, Least)
	}
	return s, false, nil
}
