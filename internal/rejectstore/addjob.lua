-- Adds a job that runs, unless too many run.
--
-- KEYS[1]   the job
-- KEYS[2]   the zset of the jobs that run
-- ARGV[1]   the prefix of all keys
-- ARGV[2]   the id of the job
-- ARGV[3]   the name of its key
-- ARGV[4]   how many jobs may run, and ARGV[5] how many of them of this key
-- ARGV[6]   when it began, in milliseconds since 1970
-- ARGV[7]   how many seconds it is kept
-- ARGV[8…]  its fields and their values in turn
--
-- Returns 1 if it was added, 0 if there are too many of the key, and -1 if there are too many of all.
local ids = redis.call('ZRANGE', KEYS[2], 0, -1)
if #ids >= tonumber(ARGV[4]) then
	return -1
end
local own = 0
for _, id in ipairs(ids) do
	if redis.call('HGET', ARGV[1] .. 'b:' .. id, 'key') == ARGV[3] then
		own = own + 1
	end
end
if own >= tonumber(ARGV[5]) then
	return 0
end
redis.call('HSET', KEYS[1], unpack(ARGV, 8))
redis.call('EXPIRE', KEYS[1], ARGV[7])
redis.call('ZADD', KEYS[2], ARGV[6], ARGV[2])
return 1
