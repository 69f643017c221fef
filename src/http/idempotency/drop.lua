-- Drops stored answers to make room for a newer one. Their claims stay, as spent, so that no idempotency key is charged twice.
--
-- KEYS  1 the account's stored answers by expiry time, a sorted set · 2 the sum of their bytes · then the key of each answer
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
