-- Holds credit for one request: every check and the hold in one step. A refusal changes nothing, not even a rate limit, but
-- for one whose time lies in the future, because the clock was set back: it counts from now.
--
-- KEYS  1 meta · 2 account · 3 key · 4 hold · 5 deadlines
-- ARGV  1 accountId:keyId · 2 hold id (empty = nothing is held, only said what would be; of models nothing is said then)
--       3 amount, input cost, tokens, time to live in ms, default requests per minute, default tokens per minute and
--         default concurrency, with a blank between each two
--       4 the allowed models that the request was planned with (empty = all)
-- Returns one of
--       reserved, available, requests limit, requests remaining, tokens limit, tokens remaining
--       exists, state · unknown_account · unknown_key · key_inactive, status · account_suspended
--       models_changed, the key's allowed models: the caller plans anew with them
--       rate_limited, scope, limit, retry after ms, key or account · budget_exceeded, resets at ms, the key's
--       remaining, held and needed, the account's available
--       insufficient, available, held, needed
--
-- NEEDS  prelude: call match MAX_AMOUNT MAX_INTEGER MS_PER_DAY refuse within stored decimal currentMs monthOf
--          startOfNextMonth memberOf spentIn
--        limits: LEVEL_UNIT MAX_LIMIT CONCURRENCY_RETRY_MS isSet limitOr refill
-- SHARES meta: acknowledge epoch epoch.ts expire load-account load-key read-account read-key view-account withhold
--        account: credit expire load-account read-account release set-account settle view-account withhold
--        key: expire load-account load-key read-key release set-key settle view-account
--        hold: check-holds.ts credit expire load-account release renew settle view-hold withhold
--        deadlines: check-holds.ts credit due expire ledger.ts load-account load-key release renew settle view-account
--          view-hold withhold

local amount, inputCost, tokens, ttlMs, defaultRequests, defaultTokens, defaultConcurrency =
  match(ARGV[3], '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
if not amount then
  refuse('a number is not an integer')
end
amount = within(amount, 'amount', 0, MAX_AMOUNT)
inputCost = within(inputCost, 'input cost', 0, amount)
tokens = within(tokens, 'tokens', 0, MAX_INTEGER)
ttlMs = within(ttlMs, 'time to live', 1, MS_PER_DAY)
defaultRequests = within(defaultRequests, 'requests per minute', 1, MAX_LIMIT)
defaultTokens = within(defaultTokens, 'tokens per minute', 1, MAX_LIMIT)
defaultConcurrency = within(defaultConcurrency, 'concurrency', 1, MAX_LIMIT)

if call('EXISTS', KEYS[4]) == 1 then
  return { 'exists', call('HGET', KEYS[4], 'state') }
end

-- An account or key that was not confirmed since the store last came back is as good as unknown: it is loaded again.
local epoch = call('HGET', KEYS[1], 'epoch')
-- So is an account that was loaded before accounts had limits.
local account = call('HMGET', KEYS[2], 'status', 'available', 'held', 'epoch', 'requestsPerMinute', 'tokensPerMinute',
  'concurrency', 'requestsLevel', 'tokensLevel', 'levelsAtMs', 'open')
if not account[1] or not epoch or account[4] ~= epoch or not account[5] then
  return { 'unknown_account' }
end
local available = stored(account[2], 'available')
local held = stored(account[3], 'held')
local accountOpen = stored(account[11], 'account open')

local key = call('HMGET', KEYS[3], 'status', 'epoch', 'expiresAtMs', 'requestsPerMinute', 'tokensPerMinute',
  'concurrency', 'monthlyBudget', 'requestsLevel', 'requestsAtMs', 'tokensLevel', 'tokensAtMs', 'open', 'held',
  'allowedModels')
if not key[1] or key[2] ~= epoch or not key[14] then
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
if key[14] ~= ARGV[4] and ARGV[2] ~= '' then
  return { 'models_changed', key[14] }
end

local function limited(scope, limit, retryMs, of)
  if stored(account[10], 'level time') > nowMs then
    call('HSET', KEYS[2], 'levelsAtMs', decimal(nowMs))
  end
  if stored(key[9], 'level time') > nowMs or stored(key[11], 'level time') > nowMs then
    call('HSET', KEYS[3], 'requestsAtMs', decimal(math.min(stored(key[9], 'level time'), nowMs)),
      'tokensAtMs', decimal(math.min(stored(key[11], 'level time'), nowMs)))
  end
  return { 'rate_limited', scope, limit, retryMs, of }
end

-- An account's limits hold for all of its keys together, and no key's own is above them.
local accountRequests = limitOr(account[5], defaultRequests)
local accountRequestsLevel = refill(account[8], account[10], accountRequests, nowMs) - LEVEL_UNIT
if accountRequestsLevel < 0 then
  return limited('requests', accountRequests, math.ceil(-accountRequestsLevel / accountRequests), 'account')
end
local requestsLimit = math.min(limitOr(key[4], defaultRequests), accountRequests)
local requestsLevel = refill(key[8], key[9], requestsLimit, nowMs) - LEVEL_UNIT
if requestsLevel < 0 then
  return limited('requests', requestsLimit, math.ceil(-requestsLevel / requestsLimit), 'key')
end
-- A request larger than the whole limit takes the full bucket; otherwise it could never pass.
local accountTokens = limitOr(account[6], defaultTokens)
local tokensLimit = math.min(limitOr(key[5], defaultTokens), accountTokens)
local taken = math.min(tokens, tokensLimit)
local accountTokensLevel = refill(account[9], account[10], accountTokens, nowMs) - taken * LEVEL_UNIT
if accountTokensLevel < 0 then
  return limited('tokens', accountTokens, math.ceil(-accountTokensLevel / accountTokens), 'account')
end
local tokensLevel = refill(key[10], key[11], tokensLimit, nowMs) - taken * LEVEL_UNIT
if tokensLevel < 0 then
  return limited('tokens', tokensLimit, math.ceil(-tokensLevel / tokensLimit), 'key')
end
local accountConcurrency = limitOr(account[7], defaultConcurrency)
if accountOpen >= accountConcurrency then
  return limited('concurrency', accountConcurrency, CONCURRENCY_RETRY_MS, 'account')
end
local concurrencyLimit = math.min(limitOr(key[6], defaultConcurrency), accountConcurrency)
if open >= concurrencyLimit then
  return limited('concurrency', concurrencyLimit, CONCURRENCY_RETRY_MS, 'key')
end

if isSet(key[7]) then
  local month = monthOf(nowMs)
  local counter = call('HMGET', KEYS[3], 'month', 'spentMonth')
  local spent = spentIn(month, stored(counter[1], 'key month'), stored(counter[2], 'key spent'))
  local remaining = stored(key[7], 'monthly budget') - spent - keyHeld
  if remaining < amount then
    return { 'budget_exceeded', startOfNextMonth(month), math.max(0, remaining), keyHeld, amount, available }
  end
end
if available < amount then
  return { 'insufficient', available, held, amount }
end

if ARGV[2] ~= '' then
  -- After this point, the transition must succeed.
  call('HSET', KEYS[2], 'available', decimal(available - amount), 'held', decimal(held + amount),
    'requestsLevel', decimal(accountRequestsLevel), 'tokensLevel', decimal(accountTokensLevel),
    'levelsAtMs', decimal(nowMs), 'open', decimal(accountOpen + 1))
  local now, amountText = decimal(nowMs), decimal(amount)
  call('HSET', KEYS[3], 'requestsLevel', decimal(requestsLevel), 'requestsAtMs', now,
    'tokensLevel', decimal(tokensLevel), 'tokensAtMs', now, 'open', decimal(open + 1), 'held', decimal(keyHeld + amount))
  -- The record stays empty until a renewal writes one: only a hold whose upstream was reached is ever charged from it.
  call('HSET', KEYS[4], 'state', 'open', 'payer', ARGV[1], 'amount', amountText,
    'inputCost', decimal(inputCost), 'tokens', decimal(taken), 'cost', '0', 'reached', '0', 'record', '')
  call('ZADD', KEYS[5], decimal(nowMs + ttlMs), memberOf(ARGV[1], ARGV[2], amountText))
end
-- What is left is what both leave.
if accountRequestsLevel < requestsLevel then
  requestsLimit, requestsLevel = accountRequests, accountRequestsLevel
end
if accountTokensLevel < tokensLevel then
  tokensLimit, tokensLevel = accountTokens, accountTokensLevel
end
return { 'reserved', available - amount, requestsLimit, (requestsLevel - requestsLevel % LEVEL_UNIT) / LEVEL_UNIT, tokensLimit,
  (tokensLevel - tokensLevel % LEVEL_UNIT) / LEVEL_UNIT }
