-- Stores an answer for equal requests, if the account has room. Deletes the earlier answer, if any.
--
-- KEYS  1 the answer, a hash · 2 the account's stored answers by expiry time, a sorted set · 3 the sum of their bytes
-- ARGV  digest of the request · request id · head · body · bytes of both · time to live in ms · maximum bytes of an account
-- Returns kept, bytes of all stored answers of the account · full, without room

local member = ARGV[1] .. ':' .. ARGV[5]
local total = tonumber(redis.call('GET', KEYS[3]) or '0')
local earlier = redis.call('HMGET', KEYS[1], 'bytes')[1]
local counted = ARGV[1] .. ':' .. (earlier or ARGV[5])
-- An answer may have expired while its bytes are still counted.
if redis.call('ZREM', KEYS[2], counted) == 1 then
  total = redis.call('DECRBY', KEYS[3], earlier or ARGV[5])
end
redis.call('DEL', KEYS[1])
total = total + tonumber(ARGV[5])
if total > tonumber(ARGV[7]) then
  return { 'full' }
end
local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function decimal(number)
  return string.format('%.0f', number)
end

local livesMs = tonumber(ARGV[6])
-- The byte count expires with the last of the account's answers.
local countsMs = math.max(livesMs, redis.call('PTTL', KEYS[2]))
redis.call('HSET', KEYS[1], 'state', 'cached', 'requestId', ARGV[2], 'head', ARGV[3], 'body', ARGV[4], 'bytes', ARGV[5],
  'atMs', decimal(nowMs))
redis.call('PEXPIRE', KEYS[1], livesMs)
redis.call('ZADD', KEYS[2], decimal(nowMs + livesMs), member)
redis.call('PEXPIRE', KEYS[2], countsMs)
redis.call('SET', KEYS[3], decimal(total), 'PX', countsMs)
return { 'kept', decimal(total) }
