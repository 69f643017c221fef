-- Builds an account and one of its keys from Postgres in one step. Gives up if Redis has had data of the account since the shard was
-- verified: then Postgres may lack charges. Other cases are for load-account and load-key.
--
-- KEYS  1 meta · 2 account · 3 key · 4 credited entries · 5 deadlines · 6 what is loaded · 7 budgets · 8 records
-- ARGV  1 account id · 2 accountId:keyId · 3 the epoch that the shard had before the history was read
--       4 status · 5 balance · 6 spent · 7 month · 8 spent that month · 9 seq · 10 requests per minute · 11 tokens per minute
--       12 concurrency (each empty = the catalogue's)
--       of the key: 13 status · 14 requests per minute · 15 tokens per minute · 16 concurrency · 17 monthly budget · 18 expires at ms
--       19 allowed models · 20 owner · 21 month · 22 spent that month · then the ids of all credited entries
-- Returns loaded · changed
--
-- NEEDS  prelude: call MAX_INTEGER integer currentMs monthOf spentIn
--        limits: MAX_LIMIT limitArgument
--        load: sumOpenHolds
--        key-state: keyInState

-- If the Redis user has no right to records, the script fails here, before a request is answered.
call('XLEN', KEYS[8])
local isNew = call('HGET', KEYS[1], 'epoch') == ARGV[3] and call('EXISTS', KEYS[2], KEYS[3], KEYS[4], KEYS[7]) == 0
  and call('SISMEMBER', KEYS[6], ARGV[1]) == 0 and sumOpenHolds(KEYS[5], ARGV[1] .. ':', {}) == 0
if not isNew then
  return 'changed'
end
local month = monthOf(currentMs())
local function spentThisMonth(first)
  return spentIn(month, integer(ARGV[first], 'month', 0, MAX_INTEGER), integer(ARGV[first + 1], 'spent', -MAX_INTEGER, MAX_INTEGER))
end
local available = integer(ARGV[5], 'balance', -MAX_INTEGER, MAX_INTEGER)
local account = {
  status = ARGV[4], epoch = ARGV[3], available = available, held = 0,
  spent = integer(ARGV[6], 'spent', -MAX_INTEGER, MAX_INTEGER), spentMonth = spentThisMonth(7), month = month,
  seq = integer(ARGV[9], 'seq', 0, MAX_INTEGER), overrun = math.max(-available, 0), version = 1, hasBudgets = 0, open = 0,
  requestsLevel = 0, tokensLevel = 0, levelsAtMs = 0, hangUpHour = 0, hangUps = 0,
  requestsPerMinute = limitArgument(ARGV[10], 1, MAX_LIMIT), tokensPerMinute = limitArgument(ARGV[11], 1, MAX_LIMIT),
  concurrency = limitArgument(ARGV[12], 1, MAX_LIMIT),
}
local key = keyInState(nil, ARGV, 13)
key.epoch, key.month, key.spentMonth = ARGV[3], month, spentThisMonth(21)

-- After this point, the transition must succeed.
writeAccount(KEYS[2], account)
writeKey(KEYS[3], key)
call('SADD', KEYS[6], ARGV[1], ARGV[2])
for index = 23, #ARGV do
  call('SADD', KEYS[4], ARGV[index])
end
return 'loaded'
