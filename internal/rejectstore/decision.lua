-- Decides on an open reject: gives it its next state, or 'open' if it stays open, and adds a line to
-- its history. own is the claim that it must have, or ''.
--
-- Returns its state and its claim from before the call; each is '' if there is none. The call has
-- changed the reject if they are 'open' and own. Nothing is added to a long history while the
-- reject stays open. All keys begin with prefix, and are in one slot.
local function decide(prefix, id, own, to, line)
	local key = prefix .. 'r:' .. id
	local now = redis.call('HMGET', key, 'state', 'claim', 'cells', 'received', 'hour', 'history', 'source', 'order')
	local state, claim, history = now[1] or '', now[2] or '', now[6] or ''
	if state ~= 'open' or claim ~= own then
		return state, claim
	end
	if to ~= 'open' or #history < 100000 then
		redis.call('HSET', key, 'history', history .. line .. '\n')
		redis.call('HINCRBY', key, 'bytes', #line + 1)
		redis.call('HINCRBY', prefix .. 'n', 'b:' .. now[7], #line + 1)
	end
	redis.call('HSET', key, 'state', to)
	redis.call('HDEL', key, 'claim')
	if to ~= 'open' then
		local place = (now[8] or '') .. id
		for cell in string.gmatch(now[3], '[^\n]+') do
			redis.call('ZREM', prefix .. 'i:open|' .. cell, place)
			if redis.call('HINCRBY', prefix .. 'h:open|' .. cell, now[5], -1) <= 0 then
				redis.call('HDEL', prefix .. 'h:open|' .. cell, now[5])
			end
			redis.call('ZADD', prefix .. 'i:' .. to .. '|' .. cell, now[4], place)
			redis.call('HINCRBY', prefix .. 'h:' .. to .. '|' .. cell, now[5], 1)
		end
	end
	return state, claim
end
