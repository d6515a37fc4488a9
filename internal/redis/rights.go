package redis

import (
	"context"
	"errors"
	"slices"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// commands are the commands that the stores use, each with enough arguments for Redis to check the
// right to it. k stands for a key.
const commands = "incrby k 1,hincrby k f 1,hset k f v,hdel k f,hkeys k,hlen k,hgetall k,zadd k 0 m,zrange k 0 0," +
	"zremrangebyscore k 0 0,zrangebyscore k 0 0,zscore k m,eval s 1 k,evalsha s 1 k,expireat k 0,get k,set k v,del k,scan 0," +
	"hget k f,hmget k f,exists k,zcard k,zcount k 0 0,type k,expiretime k,rename k k,zrem k m,sadd k m,smembers k,srem k m," +
	"lpush k v,ltrim k 0 0,lrange k 0 0,expire k 0"

// missingRights returns the rights to commands, and to keys, that the user of a server lacks, as ACL
// SETUSER names them. Each of keys is a key, or the beginning of keys and a star. Nothing is changed:
// Redis checks the rights to a command before it queues it for a transaction, and this transaction is
// aborted, since its first command is faulty.
func missingRights(ctx context.Context, server goredis.UniversalClient, keys []string) ([]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var missing []string
	type probe struct{ command, key string }
	begin, transaction := []probe{{"watch k", keys[0]}, {"unwatch", ""}, {"multi", ""}, {"exec", ""}}, []probe{{"multi", ""}, {"get", ""}}
	for _, key := range keys {
		transaction = append(transaction, probe{"exists k", key})
	}
	for command := range strings.SplitSeq(commands, ",") {
		transaction = append(transaction, probe{command, keys[0]})
	}
	transaction = append(transaction, probe{"exec", ""})
	ended := true // the transaction before; without transactions, the commands would be executed
	for _, probes := range [][]probe{begin, transaction} {
		if !ended {
			break
		}
		p := server.Pipeline()
		for _, probe := range probes {
			var args []any
			for word := range strings.SplitSeq(probe.command, " ") {
				if word == "k" {
					word = strings.TrimSuffix(probe.key, "*")
				}
				args = append(args, word)
			}
			p.Do(ctx, args...)
		}
		replies, err := p.Exec(ctx)
		if _, answered := errors.AsType[goredis.Error](err); err != nil && !answered {
			return nil, err
		}
		for i, reply := range replies {
			switch refusal := reply.Err(); {
			case refusal == nil || !strings.Contains(refusal.Error(), "NOPERM"): // for EXEC it is not a prefix
			case strings.Contains(refusal.Error(), "to run the"):
				missing = append(missing, "+"+reply.Name())
			default:
				missing = append(missing, "~"+probes[i].key)
			}
		}
		ended = replies[len(replies)-1].Err() == nil
	}
	slices.Sort(missing)
	return slices.Compact(missing), nil
}
