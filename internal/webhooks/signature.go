package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/internal/secret"
)

// Secret is the secret of one webhook in the form of Standard Webhooks: whsec_ and the Base64 of 32
// bytes.
type Secret string

const secretPrefix = "whsec_"

// DeriveSecret returns the secret of a webhook with the given number. Secrets are not stored, but
// derived from the secret of the installation.
func DeriveSecret(installation secret.Secret, webhook string, number int) Secret {
	key := installation.Key("webhook/" + webhook + "/" + strconv.Itoa(number))
	return Secret(secretPrefix + base64.StdEncoding.EncodeToString(key))
}

// Valid reports whether a text has the form of a secret.
func (s Secret) Valid() bool {
	key, ok := strings.CutPrefix(string(s), secretPrefix)
	_, err := base64.StdEncoding.DecodeString(key)
	return ok && err == nil && key != ""
}

// sign returns the signature of a delivery, in the form of Standard Webhooks: v1, and the Base64
// HMAC-SHA256 of id.timestamp.body.
func (s Secret) sign(id string, timestamp int64, body []byte) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(s), secretPrefix))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + strconv.FormatInt(timestamp, 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Signatures returns the value of the header webhook-signature, with a signature for each secret.
func Signatures(secrets []Secret, id string, timestamp int64, body []byte) string {
	list := make([]string, len(secrets))
	for i, s := range secrets {
		list[i] = s.sign(id, timestamp, body)
	}
	return strings.Join(list, " ")
}

// tolerance is how far the timestamp of a delivery may be from the clock of its receiver.
const tolerance = 5 * time.Minute

// The errors of Verify.
var (
	ErrTimestamp = errors.New("the timestamp is missing, malformed, or more than five minutes from the clock of this machine")
	ErrSignature = errors.New("no signature fits")
)

// Verify returns an error if a delivery cannot be trusted. header returns the value of a header.
func Verify(secret Secret, header func(string) string, body []byte, now time.Time) error {
	timestamp, err := strconv.ParseInt(header("webhook-timestamp"), 10, 64)
	if err != nil || now.Sub(time.Unix(timestamp, 0)).Abs() > tolerance {
		return ErrTimestamp
	}
	want := secret.sign(header("webhook-id"), timestamp, body)
	given := strings.Split(header("webhook-signature"), " ")
	if !slices.ContainsFunc(given, func(s string) bool { return hmac.Equal([]byte(s), []byte(want)) }) {
		return ErrSignature
	}
	return nil
}
