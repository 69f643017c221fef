-- Holds credit for one request: every check and the hold in one step. A refusal changes nothing, not even a rate limit.
--
-- KEYS  1 meta · 2 account · 3 key · 4 hold · 5 deadlines
-- ARGV  1 accountId:keyId · 2 hold id · 3 amount · 4 input cost · 5 tokens · 6 time to live in ms · 7 facts
--       8 default requests per minute · 9 default tokens per minute · 10 default concurrency
--       11 the allowed models that the request was planned with (empty = all)
-- Returns one of
--       reserved, available, requests limit, requests remaining, tokens limit, tokens remaining
--       exists, state · unknown_account · unknown_key · key_inactive, status · account_suspended
--       models_changed, the key's allowed models: the caller plans anew with them
--       rate_limited, scope, limit, retry after ms · budget_exceeded, resets at ms, remaining
--       insufficient, available, held, needed
--
-- NEEDS  prelude: MAX_AMOUNT MAX_INTEGER MS_PER_DAY integer stored decimal currentMs monthOf startOfNextMonth spentIn
--        limits: LEVEL_UNIT MAX_LIMIT CONCURRENCY_RETRY_MS isSet limitOr refill
--        holds: memberOf
-- SHARES meta: epoch epoch.ts load-account load-key read-account read-key record-streams.ts view-account
--        account: credit expire load-account read-account release set-account settle view-account
--        key: expire load-key read-key release set-key settle view-account
--        hold: check-holds.ts expire load-account release renew settle view-hold
--        deadlines: check-holds.ts due expire ledger.ts load-account load-key release renew settle view-account view-hold

local amount = integer(ARGV[3], 'amount', 0, MAX_AMOUNT)
local inputCost = integer(ARGV[4], 'input cost', 0, amount)
local tokens = integer(ARGV[5], 'tokens', 0, MAX_INTEGER)
local ttlMs = integer(ARGV[6], 'time to live', 1, MS_PER_DAY)
local defaultRequests = integer(ARGV[8], 'requests per minute', 1, MAX_LIMIT)
local defaultTokens = integer(ARGV[9], 'tokens per minute', 1, MAX_LIMIT)
local defaultConcurrency = integer(ARGV[10], 'concurrency', 1, MAX_LIMIT)

local state = redis.call('HGET', KEYS[4], 'state')
if state then
  return { 'exists', state }
end

-- An account or key that was not confirmed since the store last came back is as good as unknown: it is loaded again.
local epoch = redis.call('HGET', KEYS[1], 'epoch')
local account = redis.call('HMGET', KEYS[2], 'status', 'available', 'held', 'epoch')
if not account[1] or not epoch or account[4] ~= epoch then
  return { 'unknown_account' }
end
local available = stored(account[2], 'available')
local held = stored(account[3], 'held')

local key = redis.call('HMGET', KEYS[3], 'status', 'epoch', 'expiresAtMs', 'requestsPerMinute', 'tokensPerMinute',
  'concurrency', 'monthlyBudget', 'requestsLevel', 'requestsAtMs', 'tokensLevel', 'tokensAtMs', 'open', 'held', 'month',
  'spentMonth', 'allowedModels')
if not key[1] or key[2] ~= epoch or not key[16] then
  return { 'unknown_key' }
end
local open = stored(key[12], 'open')
local keyHeld = stored(key[13], 'key held')
local nowMs = currentMs()

if key[1] ~= 'active' then
  return { 'key_inactive', key[1] }
end
if isSet(key[3]) and nowMs >= stored(key[3], 'expires at') then
  return { 'key_inactive', 'expired' }
end
if account[1] ~= 'active' then
  return { 'account_suspended' }
end
if key[16] ~= ARGV[11] then
  return { 'models_changed', key[16] }
end

local requestsLimit = limitOr(key[4], defaultRequests)
local requestsLevel = refill(key[8], key[9], requestsLimit, nowMs) - LEVEL_UNIT
if requestsLevel < 0 then
  return { 'rate_limited', 'requests', requestsLimit, math.ceil(-requestsLevel / requestsLimit) }
end
-- A request larger than the whole limit takes the full bucket; otherwise it could never pass.
local tokensLimit = limitOr(key[5], defaultTokens)
local taken = math.min(tokens, tokensLimit)
local tokensLevel = refill(key[10], key[11], tokensLimit, nowMs) - taken * LEVEL_UNIT
if tokensLevel < 0 then
  return { 'rate_limited', 'tokens', tokensLimit, math.ceil(-tokensLevel / tokensLimit) }
end
local concurrencyLimit = limitOr(key[6], defaultConcurrency)
if open >= concurrencyLimit then
  return { 'rate_limited', 'concurrency', concurrencyLimit, CONCURRENCY_RETRY_MS }
end

if isSet(key[7]) then
  local month = monthOf(nowMs)
  local spent = spentIn(month, stored(key[14], 'key month'), stored(key[15], 'key spent'))
  local remaining = stored(key[7], 'monthly budget') - spent - keyHeld
  if remaining < amount then
    return { 'budget_exceeded', startOfNextMonth(month), math.max(0, remaining) }
  end
end
if available < amount then
  return { 'insufficient', available, held, amount }
end

-- After this point, the transition must succeed.
redis.call('HSET', KEYS[2], 'available', decimal(available - amount), 'held', decimal(held + amount))
redis.call('HSET', KEYS[3], 'requestsLevel', decimal(requestsLevel), 'requestsAtMs', decimal(nowMs),
  'tokensLevel', decimal(tokensLevel), 'tokensAtMs', decimal(nowMs), 'open', decimal(open + 1),
  'held', decimal(keyHeld + amount))
redis.call('HSET', KEYS[4], 'state', 'open', 'payer', ARGV[1], 'amount', decimal(amount),
  'inputCost', decimal(inputCost), 'tokens', decimal(taken), 'cost', '0', 'reached', '0', 'record', ARGV[7])
redis.call('ZADD', KEYS[5], decimal(nowMs + ttlMs), memberOf(ARGV[1], ARGV[2], amount))
return { 'reserved', available - amount, requestsLimit, math.floor(requestsLevel / LEVEL_UNIT), tokensLimit,
  math.floor(tokensLevel / LEVEL_UNIT) }
