-- Closes a proposal: with an agreement, which all processes that it concerns follow from this moment on, or without.
--
-- KEYS  1 everything about reloads, a hash
-- ARGV  the proposal, the field of its agreement ('' = none), the agreement, for how many ms it is remembered
-- Returns 1 if it was open until now, 0 if its time is over or another one is open, and nothing has changed

local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local untilMs, text = string.match(redis.call('HGET', KEYS[1], 'proposal') or '', '^(%d+)|(.*)$')
if text ~= ARGV[1] or tonumber(untilMs) <= nowMs then
  return 0
end
redis.call('HDEL', KEYS[1], 'proposal')
if ARGV[2] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[2], string.format('%.0f', nowMs + tonumber(ARGV[4])) .. '|' .. ARGV[3])
end
return 1
