-- Removes the oldest rejects of a source, as far as they are too old or too many.
--
-- KEYS[1]  the rejects of the source
-- ARGV[1]  what the other keys begin with; ARGV[2] the source; ARGV[3] the time from which on rejects
--          are kept, in milliseconds; ARGV[4] how many are kept; ARGV[5] how many bytes; ARGV[6] how
--          many are removed at once
--
-- Returns how many were removed. All keys are in one slot.
local prefix, tallies = ARGV[1], ARGV[1] .. 'n'
local function less(key, field, n)
	if redis.call('HINCRBY', key, field, -n) <= 0 then
		redis.call('HDEL', key, field)
	end
end
local count = redis.call('ZCARD', KEYS[1])
local oldest = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[6]) - 1, 'WITHSCORES')
local removed = 0
for i = 1, #oldest, 2 do
	local bytes = tonumber(redis.call('HGET', tallies, 'b:' .. ARGV[2]) or '0')
	if tonumber(oldest[i + 1]) >= tonumber(ARGV[3]) and count - removed <= tonumber(ARGV[4]) and bytes <= tonumber(ARGV[5]) then
		break
	end
	local place = oldest[i]
	local key = prefix .. 'r:' .. string.sub(place, -20) -- its id
	local now = redis.call('HMGET', key, 'state', 'cells', 'hour', 'tallies', 'bytes')
	if now[1] then
		for cell in string.gmatch(now[2], '[^\n]+') do
			redis.call('ZREM', prefix .. 'i:' .. now[1] .. '|' .. cell, place)
			less(prefix .. 'h:' .. now[1] .. '|' .. cell, now[3], 1)
		end
		for tally in string.gmatch(now[4], '[^\n]+') do
			less(tallies, tally, 1)
		end
		less(tallies, 'b:' .. ARGV[2], tonumber(now[5]))
		redis.call('DEL', key)
	end
	redis.call('ZREM', KEYS[1], place)
	removed = removed + 1
end
return removed
