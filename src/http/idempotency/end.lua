-- Ends or hands over an open claim, unless another request has it by now. `free` deletes it; `spent` marks a charged request without
-- an answer; `taken` gives it to another request.
--
-- KEYS  1 the claim, a hash · 2 the account's claims by expiry time, a sorted set
-- ARGV  digest of the key · request id that has it · free, spent or taken · for taken: request id and key id that get it
-- Returns 1 if done, 0 if the claim is not that request's, or no longer open

local claim = redis.call('HMGET', KEYS[1], 'requestId', 'state')
if claim[1] ~= ARGV[2] or claim[2] ~= 'open' then
  return 0
end
if ARGV[3] == 'free' then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
elseif ARGV[3] == 'spent' then
  redis.call('HSET', KEYS[1], 'state', 'spent')
else
  local time = redis.call('TIME')
  local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  redis.call('HSET', KEYS[1], 'requestId', ARGV[4], 'keyId', ARGV[5], 'atMs', string.format('%.0f', nowMs))
end
return 1
