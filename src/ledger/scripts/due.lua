-- Names the open holds that are past their deadline, the oldest of each shard first. Reads only.
--
-- KEYS  the deadlines of one shard or, where one server has them all, of many
-- ARGV  1 how many of each at most
-- Returns a list for each of KEYS: accountId:keyId:holdId:amount of each hold
--
-- NEEDS  prelude: decimal currentMs
-- SHARES deadlines: check-holds.ts expire ledger.ts load-account load-key release renew reserve settle view-account
--          view-hold

local now = decimal(currentMs())
local due = {}
for index, deadlines in ipairs(KEYS) do
  due[index] = redis.call('ZRANGE', deadlines, '-inf', now, 'BYSCORE', 'LIMIT', '0', ARGV[1])
end
return due
