-- Closes a proposal, with or without an agreement. All concerned processes follow an agreement from now on.
--
-- KEYS  1 everything about reloads, a hash
-- ARGV  the proposal, the field of its agreement ('' = none), the agreement, for how many ms it is remembered
-- Returns 1 if it was open, 0 if it had expired or another one is open: nothing has changed then

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
