-- Claims an idempotency key for one request, or shows the outcome of the request that claimed it before.
--
-- KEYS  1 the claim, a hash · 2 the account's claims by expiry time, a sorted set
-- ARGV  digest of the key · fingerprint of the request · request id · key id of the payer · time to live in ms · maximum claims
-- Returns claimed · full, ms until the oldest claim expires · reused, request id · kept, request id, head, body
--         or open or spent, request id, key id, age in ms

local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function decimal(number)
  return string.format('%.0f', number)
end

local earlier = redis.call('HMGET', KEYS[1], 'fingerprint', 'state', 'requestId', 'keyId', 'atMs')
if earlier[1] then
  if earlier[1] ~= ARGV[2] then
    return { 'reused', earlier[3] }
  end
  if earlier[2] == 'kept' then
    local answer = redis.call('HMGET', KEYS[1], 'head', 'body')
    return { 'kept', earlier[3], answer[1], answer[2] }
  end
  return { earlier[2], earlier[3], earlier[4], decimal(math.max(0, nowMs - tonumber(earlier[5]))) }
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', decimal(nowMs))
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[6]) then
  local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  return { 'full', decimal(math.max(0, tonumber(oldest[2]) - nowMs)) }
end
redis.call('HSET', KEYS[1], 'state', 'open', 'fingerprint', ARGV[2], 'requestId', ARGV[3], 'keyId', ARGV[4],
  'atMs', decimal(nowMs))
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('ZADD', KEYS[2], decimal(nowMs + tonumber(ARGV[5])), ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return { 'claimed' }
