-- Charges a request's real cost. Never refuses, since the answer was delivered. May charge more than the hold. If the hold had
-- expired, the difference is corrected. A lost hold is charged only if the caller has found it uncharged and the account was not
-- loaded since: the load could include the charge. The same applies to an expired hold: Redis may have forgotten that it was
-- settled, and expired it again.
--
-- KEYS  1 hold · 2 account · 3 key · 4 deadlines · 5 records · 6 budgets, if the caller knows that there are some
-- ARGV  1 accountId:keyId, and :memberId if a member acts with a key without owner (a lost hold: its key's)
--       2 hold id · 3 cost and tokens used, with a blank between them · 4 facts
--       5 the load of the account in which a lost or expired hold may be charged; empty if it may not
--       6 only for a disconnect before the first byte: the number of free ones per account and hour
-- Returns one of
--       settled, seq, at ms, held, flags, and cost if 6 is given · late, seq, at ms, charged at expiry, flags: each one text with
--         blanks
--       already_settled · already_released · unknown_account (nothing done: load it and repeat)
--       budgets (nothing done: repeat with their name)
--       unknown_hold or expired, load of the account (empty if it is not loaded)
--
-- NEEDS  prelude: call format match MAX_AMOUNT MAX_INTEGER refuse within integer decimal currentMs monthOf payerOf memberOf
--          spentIn
--        budgets: windowsAt budgetsOf chargeBudgets writeBudgets
--        holds: TOMBSTONE_MS checkHolder laterOf freedLevel appendRecord

local MS_PER_HOUR = 3600000

local holdId = ARGV[2]
local cost, tokensUsed = match(ARGV[3], '^(%d+) (%d+)$')
if not cost then
  refuse('a number is not an integer')
end
cost = within(cost, 'cost', 0, MAX_AMOUNT)
tokensUsed = within(tokensUsed, 'tokens', 0, MAX_INTEGER)
local texts = call('MGET', KEYS[1], KEYS[2], KEYS[3])
local hold = readHold(KEYS[1], texts[1])
if hold then
  checkHolder(hold.payer, ARGV[1])
end
local account = readAccount(KEYS[2], texts[2])
local isForced = not hold
local isLate = hold and hold.state == 'expired'

if isForced or isLate then
  local load = account and account.epoch .. ':' .. decimal(account.version) or ''
  if ARGV[5] == '' or ARGV[5] ~= load then
    return { isForced and 'unknown_hold' or 'expired', load }
  end
end
if hold and hold.state == 'settled' then
  return { 'already_settled' }
end
if hold and hold.state == 'released' then
  return { 'already_released' }
end
if not account then
  return { 'unknown_account' }
end
local key = readKey(KEYS[3], texts[3])
local payer = hold and hold.payer or payerOf(ARGV[1], key and key.owner)
local opened, budgets
if account.hasBudgets == 1 then
  if not KEYS[6] then
    return { 'budgets' }
  end
  opened = {}
  budgets = budgetsOf(opened, KEYS[6], payer, holdId)
end
local nowMs = currentMs()
local month = monthOf(nowMs)
-- The request's tokens count even if it is free, because the provider was called.
local isHangUp = ARGV[6] and not isLate
if isHangUp then
  local hour = (nowMs - nowMs % MS_PER_HOUR) / MS_PER_HOUR
  local hangUps = account.hangUpHour >= hour and account.hangUps or 0
  if hangUps < integer(ARGV[6], 'free hang-ups', 0, MAX_INTEGER) then
    cost = 0
  end
  account.hangUpHour, account.hangUps = hour, hangUps + 1
end
local isOpen = hold and not isLate
local returned = isOpen and hold.amount or 0
local charge = isLate and cost - hold.cost or cost
local flags = isLate and 'late' or cost > returned and 'overrun' or ''
if isForced then
  flags = flags == '' and 'forced' or 'forced,' .. flags
end
account.spentMonth = spentIn(month, account.month, account.spentMonth) + charge
account.month = laterOf(month, account.month)
account.seq = account.seq + 1
account.available, account.held = account.available + returned - charge, account.held - returned
account.spent = account.spent + charge
if charge > returned then
  account.overrun = account.overrun + charge - returned
end
if isOpen then
  account.open = account.open - 1
  account.tokensLevel = freedLevel(account.tokensLevel, hold.tokens, tokensUsed)
end
if key then
  key.spentMonth = spentIn(month, key.month, key.spentMonth) + charge
  key.month = laterOf(month, key.month)
  if isOpen then
    key.open, key.held = key.open - 1, key.held - hold.amount
    key.tokensLevel = freedLevel(key.tokensLevel, hold.tokens, tokensUsed)
  end
end
if budgets then
  chargeBudgets(budgets, charge, windowsAt(nowMs))
end
local accountNow = accountText(account)

-- From here on, the transition must succeed. The record is first: if Redis refuses it, it also refuses the charge. A record that is
-- appended twice is booked once, by its id.
appendRecord(KEYS[5], holdId, payer, isLate and 'late' or 'settle', charge, returned, account.seq, nowMs, flags, ARGV[4])
if isOpen then
  call('ZREM', KEYS[4], memberOf(payer, holdId, decimal(hold.amount)))
end
-- One command writes the charge and the hold's tombstone. If the store refused only the tombstone, each repetition would charge and
-- return the hold once more. The tombstone has no lifetime yet.
if key then
  local keyNow = keyText(key)
  call('MSET', KEYS[2], accountNow, KEYS[3], keyNow, KEYS[1], settledHoldText(payer, cost))
else
  call('MSET', KEYS[2], accountNow, KEYS[1], settledHoldText(payer, cost))
end
-- Budgets are written last: otherwise each repetition after a refusal would count the charge again. If refused, the amount stays held.
if budgets then
  writeBudgets(opened)
end
call('PEXPIRE', KEYS[1], decimal(TOMBSTONE_MS))
local kind = isLate and 'late' or 'settled'
return format('%s %d %d %d %s%s', kind, account.seq, nowMs, isLate and hold.cost or returned, flags,
  isHangUp and ' ' .. decimal(charge) or '')
