-- Returns a whole hold: nothing was delivered. The request stays counted in requests per minute, its tokens are given back.
-- An unknown hold is fenced by a tombstone: a reserve of that id that is still on its way then finds it resolved. `seal` does so
-- for long, and to a hold that expired for nothing as well: a gateway that was only stuck can't charge it any more.
--
-- KEYS  1 hold · 2 account · 3 key · 4 deadlines
-- ARGV  1 accountId:keyId · 2 hold id · 3 seal, or nothing
-- Returns released · already_settled · already_released · already_expired · unknown_hold
--
-- NEEDS  prelude: call decimal memberOf
--        holds: TOMBSTONE_MS EXPIRED_TOMBSTONE_MS readHold readAccount readKey freeLimits returnHeld freeKey writeKey bury
-- SHARES account: credit expire load-account read-account reserve set-account settle view-account withhold
--        key: expire load-account load-key read-key reserve set-key settle view-account
--        hold: check-holds.ts credit expire load-account renew reserve settle view-hold withhold
--        deadlines: check-holds.ts credit due expire ledger.ts load-account load-key renew reserve settle view-account
--          view-hold withhold

local payer, holdId = ARGV[1], ARGV[2]
local hold = readHold(KEYS[1], payer)
local isSealing = ARGV[3] == 'seal'
local wasFree = isSealing and hold and hold.state == 'expired' and hold.cost == 0
if hold and hold.state ~= 'open' and not wasFree then
  return 'already_' .. hold.state
end
local account = readAccount(KEYS[2])
local key = readKey(KEYS[3])

-- After this point, the transition must succeed.
bury(KEYS[1], 'released', payer, 0, isSealing and EXPIRED_TOMBSTONE_MS or TOMBSTONE_MS)
if not hold then
  return 'unknown_hold'
end
if wasFree then
  return 'released'
end
-- An account that is not loaded is built, when it is, from the holds that are open then: this one no longer is.
if account then
  freeLimits(account, hold, 0)
  returnHeld(KEYS[2], account, hold.amount)
end
if key then
  freeKey(key, hold, 0)
  writeKey(KEYS[3], key)
end
call('ZREM', KEYS[4], memberOf(payer, holdId, decimal(hold.amount)))
return 'released'
