-- Builds an API key from the history, or brings one back into line with it; its rate-limit levels stay. Never overwrites a
-- confirmed key unless it is a rebuild, nor a state that was set after the caller had read the history (the caller repeats).
--
-- KEYS  1 meta · 2 key · 3 deadlines · 4 what is loaded
-- ARGV  1 accountId:keyId · 2 load or rebuild · 3 base version, or absent · 4 base month · 5 base spent that month
--       6 status · 7 requests per minute · 8 tokens per minute · 9 concurrency · 10 monthly budget · 11 expires at ms
--       12 allowed models · 13 month · 14 spent that month · 15 a fresh epoch
-- Returns loaded · exists · changed
--
-- NEEDS  prelude: call MAX_INTEGER integer stored decimal currentMs monthOf spentIn
--        load: sumOpenHolds epochOf
--        key-state: checkKeyState writeKeyState
-- SHARES meta: acknowledge epoch epoch.ts expire load-account read-account read-key reserve view-account withhold
--        key: expire load-account read-key release reserve set-key settle view-account
--        deadlines: check-holds.ts credit due expire ledger.ts load-account release renew reserve settle view-account
--          view-hold withhold

local known = call('HMGET', KEYS[2], 'status', 'epoch', 'version', 'month', 'spentMonth', 'allowedModels')
local isKnown = known[1] ~= false
local epoch, isFresh = epochOf(KEYS[1], ARGV[15])
-- A key that was loaded before keys had allowed models is as good as unconfirmed.
if ARGV[2] == 'load' and isKnown and known[2] == epoch and known[6] then
  return 'exists'
end
local isSame = isKnown == (ARGV[3] ~= 'absent')
  and (not isKnown or decimal(stored(known[3], 'version')) == ARGV[3])
  and stored(known[4], 'month') == integer(ARGV[4], 'month', 0, MAX_INTEGER)
if not isSame then
  return 'changed'
end
checkKeyState(ARGV, 6)
local month = monthOf(currentMs())
local newCharges = stored(known[5], 'spent') - integer(ARGV[5], 'spent', -MAX_INTEGER, MAX_INTEGER)
-- As for an account: what came in between may be a charge that the history has already.
if newCharges ~= 0 and isKnown and known[2] ~= epoch then
  return 'changed'
end
local spentMonth = newCharges
  + spentIn(month, integer(ARGV[13], 'month', 0, MAX_INTEGER), integer(ARGV[14], 'spent', -MAX_INTEGER, MAX_INTEGER))
local held, open = sumOpenHolds(KEYS[3], ARGV[1] .. ':', {})

-- After this point, the transition must succeed.
if isFresh then
  call('HSET', KEYS[1], 'epoch', epoch)
end
writeKeyState(KEYS[2], ARGV, 6)
call('HSET', KEYS[2], 'open', decimal(open), 'held', decimal(held), 'month', decimal(month),
  'spentMonth', decimal(spentMonth), 'epoch', epoch)
call('SADD', KEYS[4], ARGV[1])
-- Whoever looked at the key before this load has to look again.
call('HINCRBY', KEYS[2], 'version', '1')
return 'loaded'
