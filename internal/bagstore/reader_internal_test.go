package bagstore

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/redis/redistest"
)

func TestAVersionIsNever0(t *testing.T) {
	if got := versionOf([]string{"\xff\xff\xff\xff\xff\xff\xff\xff"}, 1); got != 1 { // 1 is added
		t.Errorf("version %#x", got)
	}
}

func TestQueriesThatShareARoundTripGetTheirOwnReplies(t *testing.T) {
	s, err := Open(redistest.Open(t, ""), Config{Retention: time.Hour, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	plates := []bag.Plate{"0220123456"}
	if _, err := s.Writer().File(t.Context(), []bag.Filing{{Raw: "BSM", Received: time.Now(), Entries: []bag.Entry{{Plate: plates[0]}}}}); err != nil {
		t.Fatal(err)
	}
	r := s.Reader()
	var queries []*query
	var replies [][]*goredis.StringSliceCmd
	for _, command := range []string{readHash, readFields, readHash} {
		q := &query{reader: r}
		queries, replies = append(queries, q), append(replies, addCommands(t.Context(), q, plates, s.keys.plate, command))
	}
	if err := r.sendTogether(t.Context(), queries); err != nil {
		t.Fatal(err)
	}
	for i, words := range []int{2, 1, 2} {
		if got := len(replies[i][0].Val()); got != words {
			t.Errorf("reply %d has %d words, want %d", i, got, words)
		}
	}
}
