-- Names the open holds that are past their deadline, the oldest of each shard first. Reads only.
--
-- KEYS  the deadlines of one shard or, where one server has them all, of many
-- ARGV  1 how many of each at most
-- Returns a list for each of KEYS: accountId:keyId:holdId:amount of each hold
--
-- NEEDS  prelude: call decimal currentMs
-- SHARES deadlines: check-holds.ts credit expire ledger.ts load-account load-budgets load-key load-payer release renew
--          reserve settle view-account view-hold withhold

local now = decimal(currentMs())
local due = {}
-- Without open holds no shard has deadlines; one command checks all.
local areAny = call('EXISTS', unpack(KEYS)) > 0
for index, deadlines in ipairs(KEYS) do
  due[index] = areAny and call('ZRANGE', deadlines, '-inf', now, 'BYSCORE', 'LIMIT', '0', ARGV[1]) or {}
end
return due
