-- Reads an account's money. Reads only.
--
-- KEYS  1 meta · 2 account
-- ARGV  none
-- Returns available, held, spent, spent this month, seq, status · or nothing if the account has to be loaded
--
-- NEEDS  prelude: call currentMs monthOf spentIn
-- SHARES meta: acknowledge epoch epoch.ts expire load-account load-key load-payer other-layout.ts read-key reserve
--          view-account withhold
--        account: credit expire load-account load-budgets load-payer release reserve set-account settle view-account
--          withhold

local epoch = call('HGET', KEYS[1], 'epoch')
local account = readAccount(KEYS[2])
if not account or account.epoch ~= epoch then
  return {}
end
local spentMonth = spentIn(monthOf(currentMs()), account.month, account.spentMonth)
return { account.available, account.held, account.spent, spentMonth, account.seq, account.status }
