-- Reads an account's money. Reads only.
--
-- KEYS  1 meta · 2 account
-- ARGV  none
-- Returns available, held, spent, spent this month, seq, status · or nothing where the account has to be loaded
--
-- NEEDS  prelude: call stored decimal currentMs monthOf spentIn
-- SHARES meta: acknowledge epoch epoch.ts expire load-account load-key read-key reserve view-account withhold
--        account: credit expire load-account release reserve set-account settle view-account withhold

local epoch = call('HGET', KEYS[1], 'epoch')
local fields = call('HMGET', KEYS[2], 'available', 'held', 'spent', 'spentMonth', 'seq', 'month', 'status', 'epoch')
if not fields[7] or not epoch or fields[8] ~= epoch then
  return {}
end
local spentMonth = spentIn(monthOf(currentMs()), stored(fields[6], 'month'), stored(fields[4], 'spent this month'))
return { fields[1], fields[2], fields[3], decimal(spentMonth), fields[5], fields[7] }
