-- Reads the notes of all gateways, and deletes expired ones.
--
-- KEYS  1 the health of everything, a hash
-- ARGV  none
-- Returns a flat list: subject, owner, state, remaining ms (as text) of each live note

local fields = redis.call('HGETALL', KEYS[1])
if #fields == 0 then
  return {}
end
local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local notes, over = {}, {}
for index = 1, #fields, 2 do
  local owner, state, untilMs = string.match(fields[index + 1], '^([^|]*)|([^|]*)|(%d+)$')
  if untilMs and tonumber(untilMs) > nowMs then
    notes[#notes + 1] = fields[index]
    notes[#notes + 1] = owner
    notes[#notes + 1] = state
    notes[#notes + 1] = string.format('%.0f', tonumber(untilMs) - nowMs)
  else
    over[#over + 1] = fields[index]
  end
end
for _, subject in ipairs(over) do
  redis.call('HDEL', KEYS[1], subject)
end
return notes
