package changestore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/kafka"
	"bagtrail/internal/redis"
)

var _ changes.ReadIndex = (*Store)(nil)

// State implements changes.ReadIndex.
func (s *Store) State(ctx context.Context) (changes.Epoch, []changes.Progress, error) {
	e, err := s.Epoch(ctx)
	if err != nil || e == (changes.Epoch{}) {
		return e, nil, err
	}
	var at []*goredis.ZSliceCmd
	err = s.redis.Read(ctx, func(pipe goredis.Pipeliner) { at = s.askProgress(ctx, pipe, e) })
	progress, err := progressOf(at, err)
	if err != nil {
		return changes.Epoch{}, nil, err
	}
	return e, progress, nil
}

// askProgress adds the commands that read the progress of each partition.
func (s *Store) askProgress(ctx context.Context, pipe goredis.Pipeliner, e changes.Epoch) []*goredis.ZSliceCmd {
	at := make([]*goredis.ZSliceCmd, e.Partitions)
	for i := range at {
		at[i] = pipe.ZRangeWithScores(ctx, s.key(e.Begun, i, "at"), 0, -1)
	}
	return at
}

// progressOf returns the progress that replies of ZRANGE hold. err is the error of their pipeline.
func progressOf(at []*goredis.ZSliceCmd, err error) ([]changes.Progress, error) {
	progress := make([]changes.Progress, len(at))
	for i, cmd := range at {
		if err = errors.Join(err, cmd.Err()); err != nil {
			return nil, redis.Unavailable("changestore: read the progress", err)
		}
		progress[i] = readProgress(cmd.Val())
	}
	return progress, nil
}

// readComplete sends the reading commands that add puts into a pipeline, between two reads of the
// progress of each partition, and fails as changes.Complete does. If another server of a cluster
// takes over a partition meanwhile, the second read comes from that server, and shows whether it
// has lost changes.
func (s *Store) readComplete(ctx context.Context, e changes.Epoch, after, told []int64, add func(goredis.Pipeliner)) error {
	var before, later []*goredis.ZSliceCmd
	err := s.redis.Read(ctx, func(pipe goredis.Pipeliner) {
		before = s.askProgress(ctx, pipe, e)
		add(pipe)
		later = s.askProgress(ctx, pipe, e)
	})
	for _, at := range [][]*goredis.ZSliceCmd{before, later} {
		progress, err := progressOf(at, err)
		if err != nil {
			return err
		}
		if err := changes.Complete(after, told, progress); err != nil {
			return err
		}
	}
	return nil
}

// Between implements changes.ReadIndex.
func (s *Store) Between(
	ctx context.Context, e changes.Epoch, scopes []changes.Scope, after, told []int64, limit int,
) (found [][]changes.Candidate, upTo []int64, err error) {
	changed := 0 // number of partitions with changes
	for p := range told {
		if after[p] < told[p] {
			changed++
		}
	}
	each := limit/max(1, changed) + 1
	replies := make([][]*goredis.ZSliceCmd, len(told))
	err = s.readComplete(ctx, e, after, told, func(pipe goredis.Pipeliner) {
		for p := range told {
			if after[p] >= told[p] {
				continue
			}
			for _, scope := range scopes {
				replies[p] = append(replies[p], pipe.ZRangeByScoreWithScores(ctx, s.key(e.Begun, p, string(scope)), &goredis.ZRangeBy{
					Min: "(" + strconv.FormatInt(after[p], 10), Max: strconv.FormatInt(told[p], 10), Count: int64(each),
				}))
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	found, upTo = make([][]changes.Candidate, len(told)), slices.Clone(told)
	for p, list := range replies {
		for _, cmd := range list {
			err = errors.Join(err, cmd.Err())
			if read := cmd.Val(); len(read) == each { // more may follow the last one
				upTo[p] = min(upTo[p], int64(read[each-1].Score))
			}
		}
		found[p] = merge(p, list, upTo[p])
	}
	if err != nil {
		return nil, nil, redis.Unavailable("changestore: read changes", err)
	}
	return found, upTo, nil
}

// merge returns the candidates of a partition from the replies for its scopes. All scopes were read
// up to the sequence upTo. A plate that has left a scope stays in it with an old sequence, so the
// latest sequence of a plate counts.
func merge(partition int, scopes []*goredis.ZSliceCmd, upTo int64) []changes.Candidate {
	latest := make(map[bag.Plate]int64)
	for _, cmd := range scopes {
		for _, z := range cmd.Val() {
			plate, _ := z.Member.(string)
			latest[bag.Plate(plate)] = max(latest[bag.Plate(plate)], int64(z.Score))
		}
	}
	merged := make([]changes.Candidate, 0, len(latest))
	for plate, sequence := range latest {
		if sequence <= upTo {
			merged = append(merged, changes.Candidate{Plate: plate, Partition: partition, Sequence: sequence})
		}
	}
	slices.SortFunc(merged, func(a, b changes.Candidate) int {
		return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.Plate, b.Plate))
	})
	return merged
}

// Sequences implements changes.ReadIndex.
func (s *Store) Sequences(ctx context.Context, e changes.Epoch, plates []bag.Plate, after, told []int64) ([]int64, error) {
	replies := make([]*goredis.FloatCmd, len(plates))
	err := s.readComplete(ctx, e, after, told, func(pipe goredis.Pipeliner) {
		for i, plate := range plates {
			partition := kafka.PartitionOf([]byte(plate), e.Partitions)
			replies[i] = pipe.ZScore(ctx, s.key(e.Begun, partition, string(changes.All)), string(plate))
		}
	})
	if err != nil {
		return nil, err
	}
	sequences := make([]int64, len(plates))
	for i, cmd := range replies {
		switch {
		case errors.Is(cmd.Err(), goredis.Nil):
			sequences[i] = -1
		case cmd.Err() != nil:
			err = errors.Join(err, cmd.Err())
		default:
			sequences[i] = int64(cmd.Val())
		}
	}
	if err != nil {
		return nil, redis.Unavailable("changestore: read sequences", err)
	}
	return sequences, nil
}
