-- Builds or corrects an API key from Postgres; its rate-limit levels stay. Overwrites a confirmed key only in a rebuild, and never a
-- state that was set after the caller read Postgres (the caller repeats).
--
-- KEYS  1 meta · 2 key · 3 deadlines · 4 what is loaded
-- ARGV  1 accountId:keyId · 2 load or rebuild · 3 base version, or absent · 4 base month · 5 base spent that month
--       6 status · 7 requests per minute · 8 tokens per minute · 9 concurrency · 10 monthly budget · 11 expires at ms
--       12 allowed models · 13 owner · 14 month · 15 spent that month · 16 a fresh epoch
-- Returns loaded · exists · changed
--
-- NEEDS  prelude: call MAX_INTEGER integer decimal currentMs monthOf spentIn
--        load: sumOpenHolds epochOf
--        key-state: keyInState

local known = readKey(KEYS[2])
local epoch, isFresh = epochOf(KEYS[1], ARGV[16])
local isConfirmed = known and known.epoch == epoch
if ARGV[2] == 'load' and isConfirmed then
  return 'exists'
end
local isSame = (known ~= nil) == (ARGV[3] ~= 'absent')
  and (not known or decimal(known.version) == ARGV[3])
  and (known and known.month or 0) == integer(ARGV[4], 'month', 0, MAX_INTEGER)
if not isSame then
  return 'changed'
end
local month = monthOf(currentMs())
local newCharges = (known and known.spentMonth or 0) - integer(ARGV[5], 'spent', -MAX_INTEGER, MAX_INTEGER)
-- As in load-account: the new charge may be the repeat of one that Postgres already has.
if newCharges ~= 0 and known and not isConfirmed then
  return 'changed'
end
local key = keyInState(known, ARGV, 6)
key.epoch, key.month = epoch, month
key.spentMonth = newCharges
  + spentIn(month, integer(ARGV[14], 'month', 0, MAX_INTEGER), integer(ARGV[15], 'spent', -MAX_INTEGER, MAX_INTEGER))
key.held, key.open = sumOpenHolds(KEYS[3], ARGV[1] .. ':', {})

-- After this point, the transition must succeed.
if isFresh then
  call('HSET', KEYS[1], 'epoch', epoch)
end
writeKey(KEYS[2], key)
call('SADD', KEYS[4], ARGV[1])
return 'loaded'
