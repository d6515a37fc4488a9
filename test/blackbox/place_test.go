package blackbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/service"
)

// rebooking returns the messages of a bag that is rebooked: its booking, the deletion of that, and
// the new booking.
func rebooking(plate string) []string {
	old := bsmOn(plate, today())
	return []string{old, strings.Replace(old, "BSM\n", "BSM\nDEL\n", 1), strings.Replace(old, "LX100/", "LX104/", 1)}
}

// onNewFlight waits until the bags are in the list of their new flight, and not in that of the old
// one.
func onNewFlight(t *testing.T, s *service.Service, plates []string) {
	t.Helper()
	list := func(number string) string {
		return s.Get(service.FlightPath("ZRH", "D", "LX", number, today().Format(time.DateOnly))).Body
	}
	s.Until(patience, func() bool { return strings.Contains(list("104"), plates[len(plates)-1]) })
	before, after := list("100"), list("104")
	for _, plate := range plates {
		if strings.Contains(before, plate) || !strings.Contains(after, plate) {
			t.Errorf("%s: on the old flight %v, on the new one %v", plate, strings.Contains(before, plate), strings.Contains(after, plate))
		}
	}
}

// Messages that were sent one after the other count in that order even if they were received within
// a millisecond: POSTs of which each is awaited, and records of the raw topic with the plate as
// key.
func TestARebookedBagIsOnItsNewFlight(t *testing.T) {
	ownServers(t)
	t.Parallel()
	var plates []string
	for i := range 60 {
		plates = append(plates, fmt.Sprintf("07249200%02d", i))
	}
	t.Run("POSTs, awaited", func(t *testing.T) {
		t.Parallel()
		s := service.Start(t)
		for _, plate := range plates {
			for _, text := range rebooking(plate) {
				expect(t, "POST", s.Process(text), 200, processed)
			}
		}
		onNewFlight(t, s, plates)
	})
	t.Run("POSTs, awaited, without Kafka", func(t *testing.T) {
		t.Parallel()
		s := service.Start(t, "BAGTRAIL_KAFKA_BROKERS=off")
		for _, plate := range plates {
			for _, text := range rebooking(plate) {
				expect(t, "POST", s.Process(text), 200, processed)
			}
		}
		onNewFlight(t, s, plates)
	})
	t.Run("Kafka, in one batch", func(t *testing.T) {
		t.Parallel()
		s := service.Start(t)
		now := time.Now()
		var batch []kafka.Message
		for _, plate := range plates {
			for _, text := range rebooking(plate) {
				batch = append(batch, kafka.Message{Key: []byte(plate), Value: []byte(text), Time: now})
			}
		}
		produce(t, s, rawTopic, batch...)
		for _, plate := range plates {
			historyOf(t, s, plate, today().Format(time.DateOnly), "EXPECTED CANCELLED EXPECTED")
		}
		onNewFlight(t, s, plates)
		s.Stop() // the answers are the same when the index is rebuilt from the log
		s.Up()
		onNewFlight(t, s, plates)
	})
}
