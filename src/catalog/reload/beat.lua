-- Stores a process's entry, deletes expired ones, and returns the other entries, or the proposal and agreements.
--
-- KEYS  1 everything about reloads, a hash
-- ARGV  the field of the process ('' = only look), its entry, for how many ms; 'members' or 'plans'
-- Returns a flat list of the fields asked for and their texts

local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if ARGV[1] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', nowMs + tonumber(ARGV[3])) .. '|' .. ARGV[2])
end
local told = {}
local fields = redis.call('HGETALL', KEYS[1])
for index = 1, #fields, 2 do
  local untilMs, text = string.match(fields[index + 1], '^(%d+)|(.*)$')
  local isMember = string.sub(fields[index], 1, 7) == 'member:'
  if not untilMs or tonumber(untilMs) <= nowMs then
    redis.call('HDEL', KEYS[1], fields[index])
  elseif isMember == (ARGV[4] == 'members') then
    told[#told + 1] = fields[index]
    told[#told + 1] = text
  end
end
return told
