-- Writes what the owner of a partition tells, if what it told before is still there.
--
-- KEYS[1]   the zset whose member 'told' is the sequence up to which everything is told
-- KEYS[2…]  zsets of plates
-- ARGV[1]   the lowest score of the member ARGV[3] with which anything is written, or -2 for any, and
--           for none
-- ARGV[2]   when the keys expire, in seconds since 1970
-- ARGV[3]   'told', or 'built' while the index is built again
-- ARGV[4…]  for each key: how many arguments follow for it, then a score and a member in turn
--
-- Entries below the floor, the member 'floor' of KEYS[1], are removed from the keys that are written.
--
-- Returns 'lost' if nothing was written, 'more' if the score was above ARGV[1], else 'written'. All
-- keys are in one slot. What readers look at first, KEYS[1], is written last.
local result = 'written'
if tonumber(ARGV[1]) >= -1 then
	local before = redis.call('ZSCORE', KEYS[1], ARGV[3])
	if not before or tonumber(before) < tonumber(ARGV[1]) then
		return 'lost'
	end
	if tonumber(before) > tonumber(ARGV[1]) then
		result = 'more'
	end
end
local first = {}
local at = 4
for i = 1, #KEYS do
	first[i] = at
	at = at + 1 + tonumber(ARGV[at])
end
local floor = redis.call('ZSCORE', KEYS[1], 'floor')
for i = #KEYS, 1, -1 do
	local n = tonumber(ARGV[first[i]])
	for from = first[i] + 1, first[i] + n, 1000 do
		redis.call('ZADD', KEYS[i], 'GT', unpack(ARGV, from, math.min(from + 999, first[i] + n)))
	end
	if floor and i > 1 then
		redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', '(' .. floor)
	end
	redis.call('EXPIREAT', KEYS[i], ARGV[2])
end
return result
