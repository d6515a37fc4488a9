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

// A cookie is the base64 of: id, end in seconds since 1970, mark of the key, name of the key,
// signature.
const (
	idSize   = 16
	markAt   = idSize + 8
	headSize = markAt + sha256.Size
)

var encoding = base64.RawURLEncoding.Strict()

// sign returns the signature of a text.
func (s *Sessions) sign(text []byte) []byte {
	mac := hmac.New(sha256.New, s.signing)
	mac.Write(text)
	return mac.Sum(nil)
}

// mark returns the mark of a key, which follows from its digest: a session ends when another key
// gets the name of its key.
func (s *Sessions) mark(key *apikey.Key) []byte {
	digest := key.Digest()
	return s.sign(digest[:])
}

// Begin makes a session and its cookie.
func (s *Sessions) Begin(key *apikey.Key, now time.Time) (session Session, cookie string) {
	ends := now.Add(longest)
	if !key.Expires.IsZero() && key.Expires.Before(ends) {
		ends = key.Expires
	}
	text := make([]byte, idSize, headSize+len(key.Name)+sha256.Size)
	_, _ = rand.Read(text) // never fails
	text = binary.BigEndian.AppendUint64(text, uint64(ends.Unix()))
	text = append(append(text, s.mark(key)...), key.Name...)
	return Session{key, time.Unix(ends.Unix(), 0).UTC()}, encoding.EncodeToString(append(text, s.sign(text)...))
}

// content is what a cookie says.
type content struct {
	id   string
	ends time.Time
	mark []byte // of the key
	key  string // its name
}

// read returns what a cookie says. It returns false if the cookie was not made by this service, its
// time is over, or it would end later than a session that begins now.
func (s *Sessions) read(cookie string, now time.Time) (c content, valid bool) {
	text, err := encoding.DecodeString(cookie)
	if err != nil || len(text) < headSize+sha256.Size {
		return c, false
	}
	text, signature := text[:len(text)-sha256.Size], text[len(text)-sha256.Size:]
	c = content{
		id: hex.EncodeToString(text[:idSize]), ends: time.Unix(int64(binary.BigEndian.Uint64(text[idSize:])), 0).UTC(),
		mark: text[markAt:headSize], key: string(text[headSize:]),
	}
	return c, hmac.Equal(signature, s.sign(text)) && now.Before(c.ends) && !c.ends.After(now.Add(longest+clocks))
}

// Find returns the session of a cookie. It returns false if the cookie is not valid, its key is not
// active, or the session was ended. An error means that it is not known whether it was ended; the
// session is returned with it.
func (s *Sessions) Find(ctx context.Context, cookie string, now time.Time) (Session, bool, error) {
	c, valid := s.read(cookie, now)
	if !valid {
		return Session{}, false, nil
	}
	key, active := s.keys.Named(c.key, now)
	if !active || !hmac.Equal(c.mark, s.mark(key)) {
		return Session{}, false, nil
	}
	ended, err := s.ended.Ended(ctx, c.key, c.id)
	if ended && err == nil {
		return Session{}, false, nil
	}
	return Session{key, c.ends}, err == nil, err
}

// End ends the session of a cookie, for every process. It returns false if the cookie is not valid,
// or the session was ended before. It does not ask for the key: another process may know a key that
// this one does not, since each reads the key file by itself.
func (s *Sessions) End(ctx context.Context, cookie string, now time.Time) (ended bool, err error) {
	c, valid := s.read(cookie, now)
	if !valid {
		return false, nil
	}
	if before, err := s.ended.Ended(ctx, c.key, c.id); before || err != nil {
		return false, err
	}
	return true, s.ended.End(ctx, c.key, c.id, c.ends)
}
