-- Builds or corrects an account from Postgres. Overwrites a confirmed account only in a rebuild, and gives up if the account has
-- changed in a way that is not in the caller's figures (the caller repeats).
--
-- The caller read the account (the base) and Postgres at the same moment. The growth of `spent` since then is the new charges, if
-- the account was confirmed. Open holds are counted now. So the result is exact under traffic.
--
-- KEYS  1 meta · 2 account · 3 credited entries · 4 deadlines · 5 what is loaded · 6… stale holds, each with its key · last: budgets
-- ARGV  1 account id · 2 load or rebuild · 3 base spent, or absent · 4 base number of credited entries · 5 base version
--       6 status · 7 balance · 8 spent · 9 month · 10 spent that month · 11 seq · 12 a fresh epoch
--       13 requests per minute · 14 tokens per minute · 15 concurrency (each empty = the catalogue's)
--       16 number of stale holds, then of each accountId:keyId, hold id, amount · then the ids of all credited entries
--       A stale hold's charge is already in Postgres: Redis has forgotten that it was resolved. It ends here, also for its
--       key, whose charges the key's own load corrects.
-- Returns loaded, available · exists · changed
--
-- NEEDS  prelude: call MAX_AMOUNT MAX_INTEGER integer decimal currentMs monthOf memberOf spentIn
--        limits: MAX_LIMIT limitArgument
--        load: sumOpenHolds epochOf
--        holds: TOMBSTONE_MS newHold freeKey bury

local known = readAccount(KEYS[2])
local epoch, isFresh = epochOf(KEYS[1], ARGV[12])
local isConfirmed = known and known.epoch == epoch
if ARGV[2] == 'load' and isConfirmed then
  return { 'exists' }
end
local account = known or {
  overrun = 0, version = 0, seq = 0, requestsLevel = 0, tokensLevel = 0, levelsAtMs = 0, hangUpHour = 0, hangUps = 0,
}
local hasMoved = (known ~= nil) ~= (ARGV[3] ~= 'absent')
  or account.version ~= integer(ARGV[5], 'version', 0, MAX_INTEGER)
  or call('SCARD', KEYS[3]) ~= integer(ARGV[4], 'credited entries', 0, MAX_INTEGER)
if hasMoved then
  return { 'changed' }
end
local newCharges = known and known.spent - integer(ARGV[3], 'spent', -MAX_INTEGER, MAX_INTEGER) or 0
-- A restored Redis gets settlements again that Postgres already has. Only a new view shows whether this charge is such a repeat.
if newCharges ~= 0 and not isConfirmed then
  return { 'changed' }
end
local staleCount = integer(ARGV[16], 'stale holds', 0, MAX_INTEGER)
local stale, keys = {}, {}
for index = 1, staleCount do
  local payer, holdId, amountText = unpack(ARGV, 14 + index * 3, 16 + index * 3)
  local amount = integer(amountText, 'amount', 0, MAX_AMOUNT)
  local holdName, keyName = unpack(KEYS, 4 + index * 2, 5 + index * 2)
  keys[keyName] = keys[keyName] or readKey(keyName)
  stale[memberOf(payer, holdId, decimal(amount))] = {
    name = holdName, keyName = keyName, amount = amount, tokens = 0, hold = readHold(holdName) or newHold(payer, 0),
  }
end
local month = monthOf(currentMs())
account.epoch = epoch
account.held, account.open = sumOpenHolds(KEYS[4], ARGV[1] .. ':', stale)
account.status = ARGV[6]
account.available = integer(ARGV[7], 'balance', -MAX_INTEGER, MAX_INTEGER) - newCharges - account.held
account.spent = integer(ARGV[8], 'spent', -MAX_INTEGER, MAX_INTEGER) + newCharges
account.month = month
account.spentMonth = newCharges
  + spentIn(month, integer(ARGV[9], 'month', 0, MAX_INTEGER), integer(ARGV[10], 'spent', -MAX_INTEGER, MAX_INTEGER))
account.seq = math.max(account.seq, integer(ARGV[11], 'seq', 0, MAX_INTEGER))
account.overrun = math.max(account.overrun, -account.available, 0)
account.requestsPerMinute = limitArgument(ARGV[13], 1, MAX_LIMIT)
account.tokensPerMinute = limitArgument(ARGV[14], 1, MAX_LIMIT)
account.concurrency = limitArgument(ARGV[15], 1, MAX_LIMIT)
-- Callers that read the account before this load have to read it again.
account.version = account.version + 1
account.hasBudgets = call('EXISTS', KEYS[#KEYS])

-- After this point, the transition must succeed.
if isFresh then
  call('HSET', KEYS[1], 'epoch', epoch)
end
for member, found in pairs(stale) do
  local key = keys[found.keyName]
  -- The stale hold may have ended since the caller read it.
  if call('ZREM', KEYS[4], member) == 1 and key then
    freeKey(key, found, 0)
    writeKey(found.keyName, key)
  end
  bury(found.name, found.hold, 'settled', 0, TOMBSTONE_MS)
end
writeAccount(KEYS[2], account)
call('SADD', KEYS[5], ARGV[1])
for index = 17 + staleCount * 3, #ARGV do
  call('SADD', KEYS[3], ARGV[index])
end
return { 'loaded', account.available }
