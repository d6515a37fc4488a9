-- Claims an open reject, so that nobody else resubmits it.
--
-- KEYS[1]  the reject
-- ARGV[1]  the claim
--
-- Returns its state, '' if there is none, and its claim from before the call. It is claimed if they
-- are 'open' and ''.
local now = redis.call('HMGET', KEYS[1], 'state', 'claim')
local state, claim = now[1] or '', now[2] or ''
if state == 'open' and claim == '' then
	redis.call('HSET', KEYS[1], 'claim', ARGV[1])
end
return {state, claim}
