-- Returns a whole hold: nothing was delivered. The request still counts in requests per minute; its tokens are returned. An unknown
-- hold gets a tombstone, so that a late reserve of that id finds it resolved. `seal` keeps the tombstone for longer, also for a hold
-- that expired without a charge: a stuck gateway can't charge it any more.
--
-- KEYS  1 hold · 2 account · 3 key · 4 deadlines · 5 budgets, if the caller knows that there are some
-- ARGV  1 accountId:keyId, and :memberId if a member acts with a key without owner · 2 hold id · 3 seal, or nothing
-- Returns budgets (nothing done: repeat with their name) · released · already_settled · already_released · already_expired · unknown_hold
--
-- NEEDS  prelude: call decimal currentMs memberOf
--        budgets: windowsAt budgetsOf chargeBudgets writeBudgets
--        holds: TOMBSTONE_MS EXPIRED_TOMBSTONE_MS holdOf newHold freeLimits returnHeld freeKey bury

local holdId = ARGV[2]
local hold = holdOf(KEYS[1], ARGV[1])
local isSealing = ARGV[3] == 'seal'
local wasFree = isSealing and hold and hold.state == 'expired' and hold.cost == 0
if hold and hold.state ~= 'open' and not wasFree then
  return 'already_' .. hold.state
end
local account = readAccount(KEYS[2])
local key = readKey(KEYS[3])
local isOpen = hold and not wasFree
local opened
if isOpen and account and account.hasBudgets == 1 then
  if not KEYS[5] then
    return 'budgets'
  end
  opened = {}
  chargeBudgets(budgetsOf(opened, KEYS[5], hold.payer, holdId), 0, windowsAt(currentMs()))
end

-- After this point, the transition must succeed.
bury(KEYS[1], hold or newHold(ARGV[1], 0), 'released', 0,
  isSealing and EXPIRED_TOMBSTONE_MS or TOMBSTONE_MS)
-- An account that is not loaded will be built from open holds, without this one.
if isOpen and account then
  freeLimits(account, hold, 0)
  returnHeld(account, hold.amount)
  writeAccount(KEYS[2], account)
  if opened then
    writeBudgets(opened)
  end
end
if isOpen and key then
  freeKey(key, hold, 0)
  writeKey(KEYS[3], key)
end
if isOpen then
  call('ZREM', KEYS[4], memberOf(hold.payer, holdId, decimal(hold.amount)))
end
return hold and 'released' or 'unknown_hold'
