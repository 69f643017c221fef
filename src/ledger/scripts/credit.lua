-- Adds credit, or takes it back, once per ledger entry and for ever: the entry's id stays in the account's set of credited
-- entries, which has no TTL and grows only with top-ups. A correction may take the balance below zero; that is recorded.
--
-- KEYS  1 account · 2 credited entries
-- ARGV  1 entry id · 2 amount, may be negative
-- Returns credited, available · exists, available · unknown_account
--
-- NEEDS  prelude: call MAX_AMOUNT refuse integer decimal
--        holds: readAccount
-- SHARES account: expire load-account read-account release reserve set-account settle view-account
--        credited: load-account view-account

local amount = integer(ARGV[2], 'amount', -MAX_AMOUNT, MAX_AMOUNT)
local account = readAccount(KEYS[1])
if not account then
  return { 'unknown_account' }
end
if call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then
  return { 'exists', account.available }
end
local balance = account.available + account.held + amount
if balance > MAX_AMOUNT or balance < -MAX_AMOUNT then
  refuse('the balance would be out of range')
end

-- After this point, the transition must succeed.
call('SADD', KEYS[2], ARGV[1])
call('HINCRBY', KEYS[1], 'available', decimal(amount))
if amount < 0 then
  call('HINCRBY', KEYS[1], 'overrun', decimal(-amount))
end
return { 'credited', account.available + amount }
