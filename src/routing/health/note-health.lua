-- Shares an open target or a paused key. A target belongs to the first gateway that noted it, so that only one probes it; for a key,
-- the longer pause counts.
--
-- KEYS  1 the health of everything, a hash
-- ARGV  subject, owner, state, for how many ms, 1 if another owner's note stays
-- Returns 1 if noted, 0 if another note stays

local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local untilMs = nowMs + tonumber(ARGV[4])
local noted = redis.call('HGET', KEYS[1], ARGV[1])
if noted then
  local owner, notedUntil = string.match(noted, '^([^|]*)|[^|]*|(%d+)$')
  local isLive = notedUntil and tonumber(notedUntil) > nowMs
  if isLive and ARGV[5] == '1' and owner ~= ARGV[2] then
    return 0
  end
  if isLive and ARGV[5] ~= '1' and tonumber(notedUntil) >= untilMs then
    return 0
  end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. '|' .. ARGV[3] .. '|' .. string.format('%.0f', untilMs))
return 1
