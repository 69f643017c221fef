-- Adds credit, or takes it back, once per ledger entry. The entry's id stays in the account's set of credited entries for ever; the
-- set grows only with top-ups. A correction may take the balance below zero. Settles the hold of credit withheld for the entry.
--
-- KEYS  1 account · 2 credited entries · 3 hold of credit withheld for it · 4 deadlines
-- ARGV  1 entry id · 2 amount, may be negative · 3 accountId:- (the hold has no key)
-- Returns credited, available · exists, available · unknown_account
--
-- NEEDS  prelude: call MAX_AMOUNT refuse integer decimal memberOf
--        holds: TOMBSTONE_MS holdOf freeLimits returnHeld bury

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
local hold = amount < 0 and holdOf(KEYS[3], ARGV[3])
local isWithheld = hold and hold.state == 'open'
local returned = isWithheld and hold.amount or 0
if isWithheld then
  freeLimits(account, hold, 0)
  returnHeld(account, returned)
end
account.available = account.available + amount
if amount + returned < 0 then
  account.overrun = account.overrun - amount - returned
end

-- After this point, the transition must succeed.
call('SADD', KEYS[2], ARGV[1])
writeAccount(KEYS[1], account)
if isWithheld then
  call('ZREM', KEYS[4], memberOf(ARGV[3], ARGV[1], decimal(returned)))
  bury(KEYS[3], hold, 'settled', 0, TOMBSTONE_MS)
end
return { 'credited', account.available }
