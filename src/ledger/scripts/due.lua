-- Lists open holds past their deadline, the oldest of each shard first. Reads only.
--
-- KEYS  the deadlines of one shard, or of many if one server has them
-- ARGV  1 how many of each at most
-- Returns a list for each of KEYS: accountId:keyId:holdId:amount of each hold
--
-- NEEDS  prelude: call decimal currentMs

local now = decimal(currentMs())
local due = {}
-- One command checks whether any shard has deadlines: without open holds, none has.
local areAny = call('EXISTS', unpack(KEYS)) > 0
for index, deadlines in ipairs(KEYS) do
  due[index] = areAny and call('ZRANGE', deadlines, '-inf', now, 'BYSCORE', 'LIMIT', '0', ARGV[1]) or {}
end
return due
