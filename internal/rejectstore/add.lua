-- Adds an open reject, unless it is there.
--
-- KEYS[1]  the reject
-- ARGV[1]  what the other keys begin with; ARGV[2] its id; then its fields and their values in turn
--
-- All keys are in one slot.
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
local prefix, new = ARGV[1], {}
for i = 3, #ARGV, 2 do
	new[ARGV[i]] = ARGV[i + 1]
end
local place = new.order .. ARGV[2]
for cell in string.gmatch(new.cells, '[^\n]+') do
	redis.call('ZADD', prefix .. 'i:open|' .. cell, new.received, place)
	redis.call('HINCRBY', prefix .. 'h:open|' .. cell, new.hour, 1)
end
for tally in string.gmatch(new.tallies, '[^\n]+') do
	redis.call('HINCRBY', prefix .. 'n', tally, 1)
end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('HINCRBY', prefix .. 'n', 'b:' .. new.source, new.bytes)
redis.call('ZADD', prefix .. 's:' .. new.source, new.received, place)
return 1
