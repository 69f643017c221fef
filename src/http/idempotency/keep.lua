-- Stores the answer of an open claim until the claim ends, if the account has room.
--
-- KEYS  1 the claim, a hash · 2 the account's stored answers by expiry time, a sorted set · 3 the sum of their bytes
-- ARGV  digest of the key · request id that has the claim · head · body · bytes of both · maximum bytes of an account
-- Returns kept, bytes of all stored answers of the account · full, without room · gone, if the claim is not that request's or not open

local claim = redis.call('HMGET', KEYS[1], 'requestId', 'state')
if claim[1] ~= ARGV[2] or claim[2] ~= 'open' then
  return { 'gone' }
end
local total = tonumber(redis.call('GET', KEYS[3]) or '0') + tonumber(ARGV[5])
if total > tonumber(ARGV[6]) then
  return { 'full' }
end
local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function decimal(number)
  return string.format('%.0f', number)
end

local leftMs = redis.call('PTTL', KEYS[1])
-- The byte count expires with the last of the account's answers.
local countsMs = math.max(leftMs, redis.call('PTTL', KEYS[2]))
redis.call('HSET', KEYS[1], 'state', 'kept', 'head', ARGV[3], 'body', ARGV[4])
redis.call('ZADD', KEYS[2], decimal(nowMs + leftMs), ARGV[1] .. ':' .. ARGV[5])
redis.call('PEXPIRE', KEYS[2], countsMs)
redis.call('SET', KEYS[3], decimal(total), 'PX', countsMs)
return { 'kept', decimal(total) }
