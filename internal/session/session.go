// Package session makes and checks browser sessions. A session stands for an API key: it has the
// rights of the key and no more, and it ends with the key. Everything that a process needs to know
// of a session is in its signed cookie, except whether it was ended early: see Ended. So any
// process can check a session. The cookie does not contain the key.
package session

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"time"

	"bagtrail/internal/apikey"
)

// Cookie is the name of the cookie that holds the session of a browser.
const Cookie = "bagtrail_session"

// longest is how long a session lasts, unless its key expires before.
const longest = 8 * time.Hour

// clocks is how far the clocks of two processes may differ, so that each accepts the sessions that
// the other begins.
const clocks = time.Minute

// Session is the session of a browser.
type Session struct {
	Key  *apikey.Key
	Ends time.Time // whole seconds
	id   string
}

// Ended knows the sessions that were ended early; *sessionstore.Store implements it.
type Ended interface {
	// End notes that a session of the key with a name was ended. The note is needed until the session
	// would end by itself.
	End(ctx context.Context, key, id string, until time.Time) error
	// Ended reports whether a session of a key was ended.
	Ended(ctx context.Context, key, id string) (bool, error)
}

// Sessions makes and checks sessions. It is safe for concurrent use.
type Sessions struct {
	keys    apikey.ByName
	signing []byte
	ended   Ended
}

// New returns the sessions whose cookies are signed with a key. Processes with the same signing key
// accept the cookies of each other.
func New(keys apikey.ByName, signing []byte, ended Ended) *Sessions {
	return &Sessions{keys, signing, ended}
}

// A cookie is the base64 of: id, end in seconds since 1970, name of the key, signature.
const (
	idSize   = 16
	headSize = idSize + 8
)

var encoding = base64.RawURLEncoding.Strict()

// sign returns the signature of a cookie. It covers the digest of the key, so that a session ends
// when another key gets the name of its key.
func (s *Sessions) sign(text []byte, key *apikey.Key) []byte {
	mac := hmac.New(sha256.New, s.signing)
	digest := key.Digest()
	mac.Write(digest[:])
	mac.Write(text)
	return mac.Sum(nil)
}

// Begin makes a session and its cookie.
func (s *Sessions) Begin(key *apikey.Key, now time.Time) (session Session, cookie string) {
	ends := now.Add(longest)
	if !key.Expires.IsZero() && key.Expires.Before(ends) {
		ends = key.Expires
	}
	text := make([]byte, idSize, headSize+len(key.Name)+sha256.Size)
	_, _ = rand.Read(text) // never fails
	id := hex.EncodeToString(text)
	text = binary.BigEndian.AppendUint64(text, uint64(ends.Unix()))
	text = append(text, key.Name...)
	return Session{key, time.Unix(ends.Unix(), 0).UTC(), id}, encoding.EncodeToString(append(text, s.sign(text, key)...))
}

// Find returns the session of a cookie. It returns false if the cookie was not made by this
// service, the session has ended, or it would end later than a session that begins now. An error
// means that it is not known whether it was ended early; the session is returned with it.
func (s *Sessions) Find(ctx context.Context, cookie string, now time.Time) (Session, bool, error) {
	text, err := encoding.DecodeString(cookie)
	if err != nil || len(text) < headSize+sha256.Size {
		return Session{}, false, nil //nolint:nilerr // a cookie that cannot be decoded is no session
	}
	text, signature := text[:len(text)-sha256.Size], text[len(text)-sha256.Size:]
	key, active := s.keys.Named(string(text[headSize:]), now)
	if !active || !hmac.Equal(signature, s.sign(text, key)) {
		return Session{}, false, nil
	}
	ends := time.Unix(int64(binary.BigEndian.Uint64(text[idSize:])), 0).UTC()
	if !now.Before(ends) || ends.After(now.Add(longest+clocks)) {
		return Session{}, false, nil
	}
	id := hex.EncodeToString(text[:idSize])
	ended, err := s.ended.Ended(ctx, key.Name, id)
	if ended && err == nil {
		return Session{}, false, nil
	}
	return Session{key, ends, id}, err == nil, err
}

// End ends a session, for every process.
func (s *Sessions) End(ctx context.Context, session Session) error {
	return s.ended.End(ctx, session.Key.Name, session.id, session.Ends)
}
