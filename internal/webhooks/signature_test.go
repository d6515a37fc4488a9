package webhooks_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/secret"
	"bagtrail/internal/webhooks"
)

// The example of the specification of Standard Webhooks.
func TestSignaturesAreThoseOfStandardWebhooks(t *testing.T) {
	const key webhooks.Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	got := webhooks.Signatures([]webhooks.Secret{key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSecretsFollowFromThatOfTheInstallation(t *testing.T) {
	installation := secret.Secret(strings.Repeat("x", secret.Least))
	one := webhooks.DeriveSecret(installation, "a", 1)
	if again := webhooks.DeriveSecret(installation, "a", 1); again != one || len(one) != len("whsec_")+44 {
		t.Errorf("%s, then %s", one, again)
	}
	for _, other := range []webhooks.Secret{
		webhooks.DeriveSecret(installation, "a", 2), webhooks.DeriveSecret(installation, "b", 1),
		webhooks.DeriveSecret(secret.Secret(strings.Repeat("y", secret.Least)), "a", 1),
	} {
		if other == one {
			t.Error("two secrets are the same")
		}
	}
}

func TestAReceiverTrustsWhatIsSignedNow(t *testing.T) {
	now := time.Unix(1773480000, 0)
	old, present := webhooks.Secret("whsec_b2xk"), webhooks.Secret("whsec_bmV3")
	body := []byte(`{"type":"bags.changed"}`)
	headers := map[string]string{
		"webhook-id": "m1", "webhook-timestamp": strconv.FormatInt(now.Unix(), 10),
		"webhook-signature": webhooks.Signatures([]webhooks.Secret{present, old}, "m1", now.Unix(), body),
	}
	verify := func(s webhooks.Secret, body string, now time.Time) error {
		return webhooks.Verify(s, func(name string) string { return headers[name] }, []byte(body), now)
	}
	for _, s := range []webhooks.Secret{old, present} {
		if err := verify(s, string(body), now.Add(time.Minute)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	if err := verify("whsec_b3RoZXI=", string(body), now); !errors.Is(err, webhooks.ErrSignature) {
		t.Errorf("another secret: %v", err)
	}
	if err := verify(present, string(body)+" ", now); !errors.Is(err, webhooks.ErrSignature) {
		t.Errorf("another body: %v", err)
	}
	for _, d := range []time.Duration{6 * time.Minute, -6 * time.Minute} {
		if err := verify(present, string(body), now.Add(d)); !errors.Is(err, webhooks.ErrTimestamp) {
			t.Errorf("%v later: %v", d, err)
		}
	}
	delete(headers, "webhook-timestamp")
	if err := verify(present, string(body), now); !errors.Is(err, webhooks.ErrTimestamp) {
		t.Errorf("without a timestamp: %v", err)
	}
}
