-- Opens or prolongs a proposal to reload the catalogue, unless another one is open.
--
-- KEYS  1 everything about reloads, a hash
-- ARGV  the proposal, for how many ms it is open
-- Returns 1 if it is open now, 0 if another one is

local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local present = redis.call('HGET', KEYS[1], 'proposal')
local untilMs, text = string.match(present or '', '^(%d+)|(.*)$')
if text and text ~= ARGV[1] and tonumber(untilMs) > nowMs then
  return 0
end
redis.call('HSET', KEYS[1], 'proposal', string.format('%.0f', nowMs + tonumber(ARGV[2])) .. '|' .. ARGV[1])
return 1
