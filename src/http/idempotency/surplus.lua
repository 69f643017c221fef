-- Subtracts expired answers from an account's bytes. If the sum is above the limit, returns the oldest answers, to be dropped.
--
-- KEYS  1 the account's stored answers by expiry time, a sorted set · 2 the sum of their bytes
-- ARGV  maximum of this sum
-- Returns the sum, and the digests of the answers to drop, a hundred at most

local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function bytesOf(member)
  return tonumber(string.match(member, ':(%d+)$'))
end

local total = tonumber(redis.call('GET', KEYS[2]) or '0')
-- An expired answer is gone already; only its bytes must still be subtracted.
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', nowMs))) do
  redis.call('ZREM', KEYS[1], member)
  total = redis.call('DECRBY', KEYS[2], bytesOf(member))
end
local reply = { string.format('%.0f', math.max(0, total)) }
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, 99)) do
  if total <= tonumber(ARGV[1]) then
    break
  end
  reply[#reply + 1] = string.match(member, '^(.*):%d+$')
  total = total - bytesOf(member)
end
return reply
