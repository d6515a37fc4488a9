-- Makes ARGV[2] the epoch if the epoch, KEYS[1], is still ARGV[1], which is '' for none.
-- Returns the epoch.
local now = redis.call('GET', KEYS[1]) or ''
if now == ARGV[1] then
	redis.call('SET', KEYS[1], ARGV[2])
	return ARGV[2]
end
return now
