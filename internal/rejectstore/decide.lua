-- Decides on an open reject.
--
-- KEYS[1]  the reject
-- ARGV[1]  what the other keys begin with; ARGV[2] its id; ARGV[3] the claim that it must have, or ''
-- ARGV[4]  its next state, or 'open' if it stays open; ARGV[5] a line for its history
--
-- Returns its state, '' if there is none, and its claim, from before the call. It was changed if
-- they are 'open' and ARGV[3]. A long history is not continued while the reject stays open. All keys
-- are in one slot.
local now = redis.call('HMGET', KEYS[1], 'state', 'claim', 'cells', 'received', 'hour', 'history')
local state, claim = now[1] or '', now[2] or ''
if state ~= 'open' or claim ~= ARGV[3] then
	return {state, claim}
end
local prefix, id, to = ARGV[1], ARGV[2], ARGV[4]
local history = now[6] or ''
if to ~= 'open' or #history < 100000 then
	history = history .. ARGV[5] .. '\n'
end
redis.call('HSET', KEYS[1], 'state', to, 'history', history)
redis.call('HDEL', KEYS[1], 'claim')
if to ~= 'open' then
	for cell in string.gmatch(now[3], '[^\n]+') do
		redis.call('ZREM', prefix .. 'i:open|' .. cell, id)
		if redis.call('HINCRBY', prefix .. 'h:open|' .. cell, now[5], -1) <= 0 then
			redis.call('HDEL', prefix .. 'h:open|' .. cell, now[5])
		end
		redis.call('ZADD', prefix .. 'i:' .. to .. '|' .. cell, now[4], id)
		redis.call('HINCRBY', prefix .. 'h:' .. to .. '|' .. cell, now[5], 1)
	end
end
return {state, claim}
