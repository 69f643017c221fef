-- Reads an account's money. Reads only.
--
-- KEYS  1 meta · 2 account
-- ARGV  none
-- Returns available, held, spent, spent this month, seq, status · or nothing if the account must be loaded
--
-- NEEDS  prelude: call currentMs monthOf spentIn

local epoch = call('HGET', KEYS[1], 'epoch')
local account = readAccount(KEYS[2])
if not account or account.epoch ~= epoch then
  return {}
end
local spentMonth = spentIn(monthOf(currentMs()), account.month, account.spentMonth)
return { account.available, account.held, account.spent, spentMonth, account.seq, account.status }
