-- Keeps the answer of an open claim for as long as the claim lasts, where the account's answers leave room for it.
--
-- KEYS  1 the claim, a hash · 2 the account's kept answers by the time they end, a sorted set · 3 how many bytes they have
-- ARGV  digest of the key · request id that has the claim · head · body · bytes of both · most bytes of an account
-- Returns kept · gone, where the claim is not that request's, or no longer open
--         or full, and the digests of the oldest answers, of which enough have to be dropped

local claim = redis.call('HMGET', KEYS[1], 'requestId', 'state')
if claim[1] ~= ARGV[2] or claim[2] ~= 'open' then
  return { 'gone' }
end
local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function decimal(number)
  return string.format('%.0f', number)
end

-- An answer ends with its claim; only what it took is still to be given back.
local total = tonumber(redis.call('GET', KEYS[3]) or '0')
local ended = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', decimal(nowMs))
for _, member in ipairs(ended) do
  total = math.max(0, total - tonumber(string.match(member, ':(%d+)$')))
  redis.call('ZREM', KEYS[2], member)
end
local leftMs = redis.call('PTTL', KEYS[1])
-- What counts the answers lasts as long as the one that ends last.
local countsMs = math.max(leftMs, redis.call('PTTL', KEYS[2]))
local size, most = tonumber(ARGV[5]), tonumber(ARGV[6])
if total + size > most then
  redis.call('SET', KEYS[3], decimal(total), 'PX', countsMs)
  local reply = { 'full' }
  for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, 99)) do
    local digest, bytes = string.match(member, '^(.*):(%d+)$')
    reply[#reply + 1] = digest
    total = total - tonumber(bytes)
    if total + size <= most then
      break
    end
  end
  return reply
end
redis.call('HSET', KEYS[1], 'state', 'kept', 'head', ARGV[3], 'body', ARGV[4])
redis.call('ZADD', KEYS[2], decimal(nowMs + leftMs), ARGV[1] .. ':' .. ARGV[5])
redis.call('PEXPIRE', KEYS[2], countsMs)
redis.call('SET', KEYS[3], decimal(total + size), 'PX', countsMs)
return { 'kept' }
