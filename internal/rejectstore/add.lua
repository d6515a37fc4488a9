-- Adds an open reject, unless it is there.
--
-- KEYS[1]  the reject
-- ARGV[1]  what the other keys begin with; ARGV[2] its order and id; ARGV[3] when it was received, in
--          milliseconds; ARGV[4] the hour of that; ARGV[5] its source; ARGV[6] its size in bytes
-- ARGV[7]  number of cells, which follow; then the number of tallies, which follow; then the fields
--          and values of the reject
--
-- All keys are in one slot.
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
local prefix, place, received, hour = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local at = 8
for i = at, at + tonumber(ARGV[7]) - 1 do
	redis.call('ZADD', prefix .. 'i:open|' .. ARGV[i], received, place)
	redis.call('HINCRBY', prefix .. 'h:open|' .. ARGV[i], hour, 1)
end
at = at + tonumber(ARGV[7])
for i = at + 1, at + tonumber(ARGV[at]) do
	redis.call('HINCRBY', prefix .. 'n', ARGV[i], 1)
end
at = at + 1 + tonumber(ARGV[at])
redis.call('HSET', KEYS[1], unpack(ARGV, at))
redis.call('HINCRBY', prefix .. 'n', 'b:' .. ARGV[5], ARGV[6])
redis.call('ZADD', prefix .. 's:' .. ARGV[5], received, place)
return 1
