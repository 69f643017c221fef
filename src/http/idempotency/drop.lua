-- Drops kept answers to make room for a newer one. Their claims stay, as spent: no key is charged twice.
--
-- KEYS  1 the account's kept answers by the time they end, a sorted set · 2 how many bytes they have · then the claims
-- ARGV  the digest of each claim's key
-- Returns how many were dropped

local dropped = 0
local digests = {}
for index, digest in ipairs(ARGV) do
  digests[digest] = KEYS[index + 2]
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, 99)) do
  local digest, bytes = string.match(member, '^(.*):(%d+)$')
  local claim = digests[digest]
  if claim then
    if redis.call('HGET', claim, 'state') == 'kept' then
      redis.call('HSET', claim, 'state', 'spent')
      redis.call('HDEL', claim, 'head', 'body')
    end
    redis.call('ZREM', KEYS[1], member)
    redis.call('DECRBY', KEYS[2], bytes)
    dropped = dropped + 1
  end
end
return dropped
