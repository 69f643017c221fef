-- Resolves holds that no gateway has renewed. If the upstream was not reached, the whole hold is returned. Otherwise the last
-- renewal's cost is charged: at least the cost of the input, at most the hold, since it is an estimate. A hold that was renewed or
-- resolved meanwhile stays as it is; if it was resolved, its leftover deadline is removed. A hold of an unconfirmed account stays
-- open: Postgres may have its charge already.
--
-- KEYS  1 deadlines · 2 records · 3 meta · then per hold: hold, account, key, budgets
-- ARGV  per hold: accountId:keyId (and :memberId, if any), hold id, amount: the parts of its deadlines member
-- Returns per hold: cost charged, or -1 (unchanged), or -2 (load its account first)
--
-- NEEDS  prelude: call MAX_AMOUNT integer decimal currentMs monthOf memberOf
--        budgets: windowsAt budgetsOf chargeBudgets writeBudgets
--        holds: EXPIRED_TOMBSTONE_MS holdOf newHold countMonth freeLimits returnHeld chargeAccount freeKey tombstoneText
--          appendRecord

local outcomes, expiries, ended = {}, {}, {}
local accounts, keys, movedAccounts, movedKeys = {}, {}, {}, {}
local nowMs = currentMs()
local month = monthOf(nowMs)
local epoch = call('HGET', KEYS[3], 'epoch')
local opened, windows = {}, windowsAt(nowMs)

for index = 1, #ARGV / 3 do
  local payer, holdId, amountText = ARGV[index * 3 - 2], ARGV[index * 3 - 1], ARGV[index * 3]
  local holdName, accountName, keyName, budgetsName = unpack(KEYS, index * 4, index * 4 + 3)
  local amount = integer(amountText, 'amount', 0, MAX_AMOUNT)
  local member = memberOf(payer, holdId, decimal(amount))
  local deadline = call('ZSCORE', KEYS[1], member)
  outcomes[index] = -1
  if deadline and tonumber(deadline) <= nowMs then
    if accounts[accountName] == nil then
      local account = readAccount(accountName)
      accounts[accountName] = account and account.epoch == epoch and account or false
    end
    local account = accounts[accountName]
    keys[keyName] = keys[keyName] or readKey(keyName)
    -- A deadline without a hold can only mean that its hold was lost: the held amount is returned.
    local hold = holdOf(holdName, payer) or newHold(payer, amount)
    if not account then
      outcomes[index] = -2
    elseif hold.state == 'open' then
      local cost = hold.reached == 1 and math.min(hold.amount, math.max(hold.cost, hold.inputCost)) or 0
      outcomes[index], ended[#ended + 1] = cost, member
      movedAccounts[accountName], movedKeys[keyName] = account, keys[keyName]
      expiries[#expiries + 1] = {
        payer = payer, holdId = holdId, hold = hold, cost = cost, account = account,
        key = keys[keyName], holdName = holdName,
        budgets = account.hasBudgets == 1 and budgetsOf(opened, budgetsName, payer, holdId) or nil,
      }
    else
      ended[#ended + 1] = member
    end
  end
end

local records = {}
for _, expiry in ipairs(expiries) do
  local hold, account, key = expiry.hold, expiry.account, expiry.key
  local isReached = hold.reached == 1
  local tokensUsed = isReached and hold.tokens or 0
  freeLimits(account, hold, tokensUsed)
  if key then
    freeKey(key, hold, tokensUsed)
    if isReached then
      countMonth(key, expiry.cost, month)
    end
  end
  if expiry.budgets then
    chargeBudgets(expiry.budgets, expiry.cost, windows)
  end
  if not isReached then
    returnHeld(account, hold.amount)
  else
    chargeAccount(account, expiry.cost, hold.amount, month)
    expiry.seq = account.seq
    records[#records + 1] = expiry
  end
end

-- After this point, the transition must succeed.
-- First the records, as in settle: if Redis refuses them, it also refuses the charges.
for _, record in ipairs(records) do
  appendRecord(KEYS[2], record.holdId, record.payer, 'expire', record.cost, record.hold.amount, record.seq, nowMs,
    'expired,estimated', record.hold.record)
end
-- Then one command writes accounts, keys and tombstones: only half of them would charge twice, or hold credit for ever.
-- Deadlines go last: the next sweep uses them to find refused writes.
local moved = {}
for name, account in pairs(movedAccounts) do
  moved[#moved + 1], moved[#moved + 2] = name, accountText(account)
end
for name, key in pairs(movedKeys) do
  moved[#moved + 1], moved[#moved + 2] = name, keyText(key)
end
for _, expiry in ipairs(expiries) do
  moved[#moved + 1] = expiry.holdName
  moved[#moved + 1] = tombstoneText(expiry.hold, 'expired', expiry.cost)
end
if #moved > 0 then
  call('MSET', unpack(moved))
end
-- As in settle: if Redis refuses this write, the amounts stay held in the budgets.
writeBudgets(opened)
for _, expiry in ipairs(expiries) do
  call('PEXPIRE', expiry.holdName, decimal(EXPIRED_TOMBSTONE_MS))
end
if #ended > 0 then
  call('ZREM', KEYS[1], unpack(ended))
end
return outcomes
