-- Holds a job for a process, unless another one holds it.
--
-- KEYS[1]  the job; KEYS[2] the jobs that run
-- ARGV[1]  id of the job; ARGV[2] the process; ARGV[3] the time; ARGV[4] when the hold ends; both in
--          milliseconds
--
-- Returns the fields of the job, none if it is not held. Both keys are in one slot.
local now = redis.call('HMGET', KEYS[1], 'state', 'holder', 'held')
if now[1] ~= 'running' then
	redis.call('ZREM', KEYS[2], ARGV[1])
	return {}
end
-- A hold with more than twice its time left was set by a clock that is ahead, and does not count.
local left = tonumber(now[3] or '0') - tonumber(ARGV[3])
if now[2] ~= ARGV[2] and left > 0 and left <= 2 * (ARGV[4] - ARGV[3]) then
	return {}
end
redis.call('HSET', KEYS[1], 'holder', ARGV[2], 'held', ARGV[4])
return redis.call('HGETALL', KEYS[1])
