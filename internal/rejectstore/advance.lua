-- Advances a job: decides on rejects, counts, and moves its place in its list, all or nothing.
--
-- KEYS[1]  the job; KEYS[2] the jobs that run
-- ARGV[1]  what the other keys begin with; ARGV[2] id of the job; ARGV[3] its place; ARGV[4] its next
--          place; ARGV[5] its next state; ARGV[6] the time; ARGV[7] when its hold ends; both in
--          milliseconds; ARGV[8] in how many seconds it expires if it does not run any more
-- ARGV[9]  how many counts follow, each a name and a number; then the decisions: arguments 2 to 5 of
--          decide, and the name of the count that the decision counts in
--
-- Returns 1, or 0 if the job does not run, or has another place. All keys are in one slot.
local job = KEYS[1]
local now = redis.call('HMGET', job, 'state', 'at')
if now[1] ~= 'running' or now[2] ~= ARGV[3] then
	return 0
end
local at = 10
for _ = 1, tonumber(ARGV[9]) do
	redis.call('HINCRBY', job, ARGV[at], ARGV[at + 1])
	at = at + 2
end
while ARGV[at] do
	local state, claim = decide(ARGV[1], ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
	local made = state == 'open' and claim == ARGV[at + 1]
	redis.call('HINCRBY', job, made and ARGV[at + 4] or 'skipped', 1)
	at = at + 5
end
redis.call('HSET', job, 'at', ARGV[4], 'state', ARGV[5], 'held', ARGV[7])
if ARGV[5] ~= 'running' then
	redis.call('HSET', job, 'ended', ARGV[6])
	redis.call('HDEL', job, 'question')
	redis.call('ZREM', KEYS[2], ARGV[2])
	redis.call('EXPIRE', job, ARGV[8])
end
return 1
