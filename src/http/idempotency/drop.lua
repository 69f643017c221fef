-- Drops kept answers to make room for a newer one. Claims stay, as spent: no key is charged twice. Cached answers are deleted.
--
-- KEYS  1 the account's kept answers by the time they end, a sorted set · 2 how many bytes they have · then the answers' own keys
-- ARGV  the digest of each answer
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
    local state = redis.call('HGET', claim, 'state')
    if state == 'kept' then
      redis.call('HSET', claim, 'state', 'spent')
      redis.call('HDEL', claim, 'head', 'body')
    elseif state == 'cached' then
      redis.call('DEL', claim)
    end
    redis.call('ZREM', KEYS[1], member)
    redis.call('DECRBY', KEYS[2], bytes)
    dropped = dropped + 1
  end
end
return dropped
