-- Claims open rejects, so that nobody else resubmits them.
--
-- KEYS  the rejects
-- ARGV  the claim of each
--
-- Returns for each reject its state and its claim from before the call; each is '' if there is
-- none. The call has claimed the reject if they are 'open' and ''. All keys are in one slot.
local found = {}
for i, key in ipairs(KEYS) do
	local now = redis.call('HMGET', key, 'state', 'claim')
	local state, claim = now[1] or '', now[2] or ''
	if state == 'open' and claim == '' then
		redis.call('HSET', key, 'claim', ARGV[i])
	end
	found[2 * i - 1], found[2 * i] = state, claim
end
return found
