-- Withholds credit before Postgres records its removal, so that no request spends it meanwhile: a hold without an API key, with the
-- id of its ledger entry. The entry's debit settles the hold; a release returns it. It is an open request, but in no limit.
--
-- KEYS  1 meta · 2 account · 3 hold · 4 deadlines · 5 credited entries
-- ARGV  1 accountId:- (no key) · 2 hold id, which is the entry's · 3 amount · 4 time to live in ms
--       5 the amount that must stay available; `any` if the account may go below zero
--       then for each debit in Postgres that Redis may lack: entry id, amount
-- Returns withheld, available · exists, state · insufficient, available · unknown_account
--
-- NEEDS  prelude: call MAX_AMOUNT MS_PER_DAY refuse integer decimal currentMs memberOf
--        holds: holdOf newHold returnHeld

local payer, holdId = ARGV[1], ARGV[2]
local amount = integer(ARGV[3], 'amount', 1, MAX_AMOUNT)
local ttlMs = integer(ARGV[4], 'time to live', 1, MS_PER_DAY)
local known = holdOf(KEYS[3], payer)
if known then
  return { 'exists', known.state }
end
local epoch = call('HGET', KEYS[1], 'epoch')
local account = readAccount(KEYS[2])
if not account or account.epoch ~= epoch then
  return { 'unknown_account' }
end
local available = account.available
for index = 6, #ARGV, 2 do
  local entryId, debit = ARGV[index], integer(ARGV[index + 1], 'debit', 1, MAX_AMOUNT)
  local isHeld = call('ZSCORE', KEYS[4], memberOf(payer, entryId, decimal(debit)))
  if not isHeld and call('SISMEMBER', KEYS[5], entryId) == 0 then
    available = available - debit
  end
end
if ARGV[5] ~= 'any' and available - integer(ARGV[5], 'amount to keep', 0, MAX_AMOUNT) < amount then
  return { 'insufficient', available }
end
if account.available + account.held - amount < -MAX_AMOUNT then
  refuse('the balance would be out of range')
end
account.open = account.open + 1
returnHeld(account, -amount)
if account.available < 0 then
  account.overrun = account.overrun + amount
end

-- After this point, the transition must succeed.
writeAccount(KEYS[2], account)
writeHold(KEYS[3], newHold(payer, amount))
call('ZADD', KEYS[4], decimal(currentMs() + ttlMs), memberOf(payer, holdId, decimal(amount)))
return { 'withheld', available - amount }
