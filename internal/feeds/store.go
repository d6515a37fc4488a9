package feeds

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis"
)

// The keys. Each begins with the prefix of the installation, which is "" as a rule. A feed is
// spelled ZRH/kafka, a day 20260314.
//
//	key                 type  holds                                               expires
//	feed:first          zset  feed → when its first message was received, in ms   never; members go
//	feed:last           zset  feed → when its last message was received, in ms      after 31 days without a message
//	feed:<feed>:<day>   hash  HH:<count> → number, for each hour of the day       36 days after it began
//
// <count> is a accepted, d duplicate, r rejected, one of the delay classes 0 to 36, or a code. All
// writes are increments and ZADD, so several processes can write at once. An hour of a feed has some
// 10 fields, a month of it takes some 90 KB.
const (
	firstKey = "feed:first"
	lastKey  = "feed:last"
	dayKey   = "feed:"
	dayForm  = "20060102"
)

const (
	kept   = 31 * 24 * time.Hour                // how long counts can be read
	expiry = (weeksKnown+1)*week + 24*time.Hour // longer than kept: usual gaps need older counts

	// MaxHours is how many hours of a feed can be read.
	MaxHours = int(kept / time.Hour)
)

// Store keeps feeds in Redis. It is safe for concurrent use. Its errors wrap redis.ErrUnavailable.
type Store struct{ redis *redis.Client }

// NewStore returns a Store in the Redis of a client.
func NewStore(client *redis.Client) *Store { return &Store{client} }

func (s *Store) key(rest string) string { return s.redis.Prefix() + rest }

// day returns the key of a day of a feed. at is in UTC.
func (s *Store) day(name Name, at time.Time) string {
	return s.key(dayKey + name.String() + ":" + at.Format(dayForm))
}

// add adds arrivals to the counts in Redis.
func (s *Store) add(ctx context.Context, pending map[slot]*arrivals) error {
	err := s.redis.Write(ctx, func(p goredis.Pipeliner) {
		for slot, a := range pending {
			at := time.Unix(slot.hour*3600, 0).UTC()
			key, hour := s.day(slot.Name, at), at.Format("15:")
			for field, n := range a.fields() {
				p.HIncrBy(ctx, key, hour+field, n)
			}
			p.ExpireAt(ctx, key, at.Add(expiry))
			p.ZAddLT(ctx, s.key(firstKey), goredis.Z{Score: float64(a.first.UnixMilli()), Member: slot.String()})
			p.ZAddGT(ctx, s.key(lastKey), goredis.Z{Score: float64(a.last.UnixMilli()), Member: slot.String()})
		}
	})
	return redis.Unavailable("feeds: add", err)
}

// fields returns the counts that are not 0, by the names of their fields.
func (c *Counts) fields() map[string]int64 {
	fields := maps.Clone(c.Codes)
	if fields == nil {
		fields = map[string]int64{}
	}
	fields["a"], fields["d"], fields["r"] = c.Accepted, c.Duplicate, c.Rejected
	for class, n := range c.Delays {
		fields[strconv.Itoa(class)] = n
	}
	maps.DeleteFunc(fields, func(_ string, n int64) bool { return n == 0 })
	return fields
}

// read adds a field to the counts. It ignores fields of another version.
func (c *Counts) read(field string, n int64) {
	class, err := strconv.Atoi(field)
	switch {
	case field == "a":
		c.Accepted += n
	case field == "d":
		c.Duplicate += n
	case field == "r":
		c.Rejected += n
	case err == nil && 0 <= class && class < len(c.Delays):
		c.Delays[class] += n
	case strings.HasPrefix(field, "SVC"):
		c.addCode(field, n)
	}
}

// Names returns the names of all feeds with a message in the last month, in order.
func (s *Store) Names(ctx context.Context) ([]Name, error) {
	var found *goredis.StringSliceCmd
	err := s.redis.ReadAll(ctx, func(p goredis.Pipeliner) { found = p.ZRange(ctx, s.key(lastKey), 0, -1) })
	if err != nil {
		return nil, redis.Unavailable("feeds: read the names", err)
	}
	names := make([]Name, len(found.Val()))
	for i, member := range found.Val() {
		names[i].Airport, names[i].Door, _ = strings.Cut(member, "/")
	}
	slices.SortFunc(names, func(a, b Name) int { return strings.Compare(a.String(), b.String()) })
	return names, nil
}

// maxAhead is how far the clock of another process may be ahead of that of this process.
const maxAhead = time.Minute

// setBack sets times in the future back to now. Such a time comes from a clock that was ahead.
// Until that time is reached, the feed would count as flowing, or as new.
func (s *Store) setBack(ctx context.Context, now time.Time) error {
	for _, key := range []string{s.key(firstKey), s.key(lastKey)} {
		ahead, err := s.redis.WriteClient().ZRangeByScore(ctx, key, &goredis.ZRangeBy{
			Min: "(" + strconv.FormatInt(now.Add(maxAhead).UnixMilli(), 10), Max: "+inf",
		}).Result()
		if err == nil && len(ahead) > 0 {
			err = s.redis.Write(ctx, func(p goredis.Pipeliner) {
				for _, member := range ahead {
					p.ZAddXX(ctx, key, goredis.Z{Score: float64(now.UnixMilli()), Member: member})
				}
			})
		}
		if err != nil {
			return redis.Unavailable("feeds: set back", err)
		}
	}
	return nil
}

// Forget removes feeds without a message in the last month, and sets back times in the future.
func (s *Store) Forget(ctx context.Context, now time.Time) error {
	if err := s.setBack(ctx, now); err != nil {
		return err
	}
	gone, err := s.redis.WriteClient().ZRangeByScore(ctx, s.key(lastKey), &goredis.ZRangeBy{
		Min: "-inf", Max: "(" + strconv.FormatInt(now.Add(-kept).UnixMilli(), 10),
	}).Result()
	if err == nil && len(gone) > 0 {
		err = s.redis.Write(ctx, func(p goredis.Pipeliner) {
			p.ZRem(ctx, s.key(firstKey), gone)
			p.ZRem(ctx, s.key(lastKey), gone)
		})
	}
	return redis.Unavailable("feeds: forget", err)
}

// namesAtOnce is how many feeds are read at once.
const namesAtOnce = 100

// Read returns the feeds with these names, in their order, with the last hours of each: the present
// one and those before it. A feed that was removed meanwhile is left out.
func (s *Store) Read(ctx context.Context, names []Name, hours int, now time.Time) ([]Feed, error) {
	feeds := make([]Feed, 0, len(names))
	for some := range slices.Chunk(names, namesAtOnce) {
		read, err := s.readSome(ctx, some, hours, now.UTC())
		if err != nil {
			return nil, redis.Unavailable("feeds: read", err)
		}
		feeds = append(feeds, read...)
	}
	return feeds, nil
}

func (s *Store) readSome(ctx context.Context, names []Name, hours int, now time.Time) ([]Feed, error) {
	firsts, lasts := make([]*goredis.FloatCmd, len(names)), make([]*goredis.FloatCmd, len(names))
	err := s.redis.Read(ctx, func(p goredis.Pipeliner) {
		for i, name := range names {
			firsts[i], lasts[i] = p.ZScore(ctx, s.key(firstKey), name.String()), p.ZScore(ctx, s.key(lastKey), name.String())
		}
	})
	if err != nil {
		return nil, err
	}
	var feeds []Feed
	for i, name := range names {
		switch err := cmp.Or(firsts[i].Err(), lasts[i].Err()); {
		case err == nil:
			feeds = append(feeds, Feed{Name: name, First: milliseconds(firsts[i]), Last: milliseconds(lasts[i])})
		case !errors.Is(err, goredis.Nil):
			return nil, err
		}
	}
	days := make([]map[time.Time]*goredis.MapStringStringCmd, len(feeds))
	err = s.redis.ReadAll(ctx, func(p goredis.Pipeliner) {
		for i := range feeds {
			days[i] = map[time.Time]*goredis.MapStringStringCmd{}
			for _, day := range daysOf(&feeds[i], hours, now) {
				days[i][day] = p.HGetAll(ctx, s.day(feeds[i].Name, day))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range feeds {
		feeds[i].fill(days[i], hours, now)
	}
	return feeds, nil
}

func milliseconds(score *goredis.FloatCmd) time.Time { return time.UnixMilli(int64(score.Val())).UTC() }

// daysOf returns the days from which the hours and the state of a feed are computed.
func daysOf(f *Feed, hours int, now time.Time) []time.Time {
	const day = 24 * time.Hour
	present := now
	needed := map[time.Time]bool{}
	add := func(from, to time.Time) {
		for at := from.Truncate(day); !at.After(to); at = at.Add(day) {
			if !at.Before(f.First.Truncate(day)) && present.Sub(at) < expiry {
				needed[at] = true
			}
		}
	}
	if hours > 0 { // the state needs only earlier weeks
		add(firstHour(hours, now), now)
	}
	since := later(f.Last, now.Add(-lookBack))
	for range weeksKnown {
		since, now = since.Add(-week), now.Add(-week)
		add(since, now)
	}
	return slices.Collect(maps.Keys(needed))
}

// firstHour returns the first of the last hours.
func firstHour(hours int, now time.Time) time.Time {
	return now.Truncate(time.Hour).Add(-time.Duration(hours-1) * time.Hour)
}

// fill sets hours and state from the days that were read.
func (f *Feed) fill(days map[time.Time]*goredis.MapStringStringCmd, hours int, now time.Time) {
	byHour := map[time.Time]*Counts{}
	for day, fields := range days {
		for field, value := range fields.Val() {
			text, name, _ := strings.Cut(field, ":")
			hour, err := strconv.Atoi(text)
			n, wrong := strconv.ParseInt(value, 10, 64)
			if err != nil || wrong != nil || hour < 0 || hour > 23 {
				continue // of another version
			}
			at := day.Add(time.Duration(hour) * time.Hour)
			if byHour[at] == nil {
				byHour[at] = new(Counts)
			}
			byHour[at].read(name, n)
		}
	}
	messages := make(map[time.Time]int64, len(byHour))
	for at, counts := range byHour {
		messages[at] = counts.Messages()
		if !at.Before(firstHour(hours, now)) {
			f.Hours = append(f.Hours, Hour{at, *counts})
		}
	}
	slices.SortFunc(f.Hours, func(a, b Hour) int { return a.Start.Compare(b.Start) })
	f.State, f.Gap = stateOf(f.First, f.Last, now, messages)
}
