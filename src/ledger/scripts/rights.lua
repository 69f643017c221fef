-- Tests whether the Redis user may run the needed commands on the needed keys. Nothing is changed: the script is read-only, and Redis
-- checks rights before it refuses the write.
--
-- KEYS  1 any name of the shard to ask
-- ARGV  in each, one command with its arguments, as JSON
-- Returns for each forbidden command: its index · 'command', or 'names' if only its names are forbidden

local refusals = {}
for index, line in ipairs(ARGV) do
  local reply = redis.pcall(unpack(cjson.decode(line)))
  local fault = type(reply) == 'table' and reply.err or ''
  if string.find(fault, 'The user executing the script', 1, true) or string.find(fault, 'ACL failure', 1, true) then
    refusals[#refusals + 1] = index
    refusals[#refusals + 1] = string.find(fault, 'access a', 1, true) and 'names' or 'command'
  end
end
return refusals
