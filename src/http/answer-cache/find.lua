-- Finds a cached answer that is not older than the limit.
--
-- KEYS  1 the answer, a hash
-- ARGV  maximum age in ms
-- Returns age in ms, request id, head, body · nothing, if there is none

local found = redis.call('HMGET', KEYS[1], 'atMs', 'requestId', 'head', 'body')
if not found[1] then
  return {}
end
local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local ageMs = math.max(0, nowMs - tonumber(found[1]))
if ageMs > tonumber(ARGV[1]) then
  return {}
end
return { string.format('%.0f', ageMs), found[2], found[3], found[4] }
