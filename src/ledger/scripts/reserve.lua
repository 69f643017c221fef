-- Holds credit for one request: all checks and the hold in one step. A refusal changes nothing, except a rate limit whose time is in
-- the future because the clock was set back: it counts from now.
--
-- KEYS  1 meta · 2 account · 3 key · 4 hold · 5 deadlines · 6 budgets, if the caller knows that there are some
-- ARGV  1 accountId:keyId, and :memberId if a member acts with a key without owner · 2 hold id (empty = a test without a hold, and
--         without a check of models)
--       3 amount, input cost, tokens, time to live in ms, default requests per minute, default tokens per minute and
--         default concurrency, with a blank between each two
--       4 the allowed models and providers at planning time, as one text (empty = all)
--       5 the number of the key's secret; omitted for the first
--       6 the address lists that contain the caller; omitted without lists
-- Returns one of
--       reserved, available, requests limit, requests remaining, tokens limit, tokens remaining, and 1 if the secret is not
--         the key's latest: one text with blanks, which a client reads faster than a list
--       exists, state · unknown_account, the shard's epoch (empty = none) · unknown_key · key_inactive, status · account_suspended
--       unknown_secret: newer than the stored key, which must be loaded from Postgres
--       addresses_changed, the key's lists: the caller compares again
--       models_changed, the key's allowed models and providers: the caller plans again
--       rate_limited, scope, limit, retry after ms, key or account · budget_exceeded, resets at ms, the key's
--       remaining, held and needed, the account's available
--       over_budget, scope, window, resets at ms (-1 = never), limit, spent in the window, held, remaining, needed, the account's
--       available: the budget with the least left
--       budgets: there are some; the caller repeats with their name
--       insufficient, available, held, needed
--
-- NEEDS  prelude: call format match MAX_AMOUNT MAX_INTEGER MS_PER_DAY refuse within decimal currentMs monthOf
--          startOfNextMonth payerOf memberOf spentIn
--        budgets: WINDOWS windowsAt budgetsOf leastLeft endOfWindow holdBudgets writeBudgets
--        limits: LEVEL_UNIT MAX_LIMIT CONCURRENCY_RETRY_MS limitOr smaller refill

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

-- An unconfirmed account or key counts as unknown, so the caller loads it again.
local epoch = call('HGET', KEYS[1], 'epoch')
local texts = call('MGET', KEYS[2], KEYS[3], KEYS[4])
if texts[3] then
  return { 'exists', readHold(KEYS[4], texts[3]).state }
end
local account = readAccount(KEYS[2], texts[1])
if not account or account.epoch ~= epoch then
  return { 'unknown_account', epoch or '' }
end
local key = readKey(KEYS[3], texts[2])
if not key or key.epoch ~= epoch then
  return { 'unknown_key' }
end
local nowMs = currentMs()

if key.status ~= 'active' then
  return { 'key_inactive', key.status }
end
if key.expiresAtMs >= 0 and nowMs >= key.expiresAtMs then
  return { 'key_inactive', 'expired' }
end
-- The text begins with a rotated key's latest secret number and the former secret's end. Address lists follow, then the models.
local models, behind, addresses = key.allowedModels, 0, nil
if ARGV[5] or models ~= '' then
  local latest, formerEndsAtMs, rest = match(models, '^s(%d+):(%d+) (.*)$')
  models, behind = rest or models, (latest or 1) - (ARGV[5] or 1)
  if behind < 0 then
    return { 'unknown_secret' }
  end
  if behind > 1 or behind == 1 and nowMs >= formerEndsAtMs + 0 then
    return { 'key_inactive', 'replaced' }
  end
  addresses, rest = match(models, '^(a%S* )(.*)$')
  models = rest or models
end
if account.status ~= 'active' then
  return { 'account_suspended' }
end
if addresses ~= ARGV[6] and ARGV[2] ~= '' then
  return { 'addresses_changed', addresses or '' }
end
if models ~= ARGV[4] and ARGV[2] ~= '' then
  return { 'models_changed', models }
end

local payer = payerOf(ARGV[1], key.owner)
local opened, budgets
if account.hasBudgets == 1 then
  if not KEYS[6] then
    return { 'budgets' }
  end
  opened = {}
  budgets = budgetsOf(opened, KEYS[6], payer, ARGV[2])
end

-- An account's limits apply to all its keys together; no key has higher ones.
local accountRequests = limitOr(account.requestsPerMinute, defaultRequests)
local accountRequestsLevel = refill(account.requestsLevel, account.levelsAtMs, accountRequests, nowMs) - LEVEL_UNIT
local requestsLimit = smaller(limitOr(key.requestsPerMinute, defaultRequests), accountRequests)
local requestsLevel = refill(key.requestsLevel, key.requestsAtMs, requestsLimit, nowMs) - LEVEL_UNIT
-- A request larger than the whole limit takes only the limit; otherwise it could never pass.
local accountTokens = limitOr(account.tokensPerMinute, defaultTokens)
local tokensLimit = smaller(limitOr(key.tokensPerMinute, defaultTokens), accountTokens)
local taken = smaller(tokens, tokensLimit)
local accountTokensLevel = refill(account.tokensLevel, account.levelsAtMs, accountTokens, nowMs) - taken * LEVEL_UNIT
local tokensLevel = refill(key.tokensLevel, key.tokensAtMs, tokensLimit, nowMs) - taken * LEVEL_UNIT
local accountConcurrency = limitOr(account.concurrency, defaultConcurrency)
local concurrencyLimit = smaller(limitOr(key.concurrency, defaultConcurrency), accountConcurrency)
-- The first limit that refuses, the units that its level lacks, and its owner: the account or the key.
local scope, limit, missing, of
if accountRequestsLevel < 0 then
  scope, limit, missing, of = 'requests', accountRequests, -accountRequestsLevel, 'account'
elseif requestsLevel < 0 then
  scope, limit, missing, of = 'requests', requestsLimit, -requestsLevel, 'key'
elseif accountTokensLevel < 0 then
  scope, limit, missing, of = 'tokens', accountTokens, -accountTokensLevel, 'account'
elseif tokensLevel < 0 then
  scope, limit, missing, of = 'tokens', tokensLimit, -tokensLevel, 'key'
elseif account.open >= accountConcurrency then
  scope, limit, of = 'concurrency', accountConcurrency, 'account'
elseif key.open >= concurrencyLimit then
  scope, limit, of = 'concurrency', concurrencyLimit, 'key'
end
if scope then
  if account.levelsAtMs > nowMs then
    account.levelsAtMs = nowMs
    local accountNow = accountText(account)
    call('SET', KEYS[2], accountNow)
  end
  if key.requestsAtMs > nowMs or key.tokensAtMs > nowMs then
    key.requestsAtMs, key.tokensAtMs = smaller(key.requestsAtMs, nowMs), smaller(key.tokensAtMs, nowMs)
    local keyNow = keyText(key)
    call('SET', KEYS[3], keyNow)
  end
  return { 'rate_limited', scope, limit, missing and math.ceil(missing / limit) or CONCURRENCY_RETRY_MS, of }
end

local tightest = budgets and leastLeft(budgets, windowsAt(nowMs))
local monthlyLeft
if key.monthlyBudget >= 0 then
  local month = monthOf(nowMs)
  monthlyLeft = key.monthlyBudget - spentIn(month, key.month, key.spentMonth) - key.held
  if monthlyLeft < amount and not (tightest and tightest.remaining < monthlyLeft) then
    return { 'budget_exceeded', startOfNextMonth(month), math.max(0, monthlyLeft), key.held, amount, account.available }
  end
end
if tightest and tightest.remaining < amount then
  return { 'over_budget', tightest.scope, WINDOWS[tightest.window], endOfWindow(tightest.window, tightest.at), tightest.limit,
    tightest.spent, tightest.held, tightest.remaining, amount, account.available }
end
if account.available < amount then
  return { 'insufficient', account.available, account.held, amount }
end

if ARGV[2] ~= '' then
  -- A hold starts with an empty record. Only a renewal writes one, since only a hold that reached its upstream is charged.
  account.available, account.held, account.open = account.available - amount, account.held + amount, account.open + 1
  account.requestsLevel, account.tokensLevel, account.levelsAtMs = accountRequestsLevel, accountTokensLevel, nowMs
  key.held, key.open = key.held + amount, key.open + 1
  key.requestsLevel, key.requestsAtMs, key.tokensLevel, key.tokensAtMs = requestsLevel, nowMs, tokensLevel, nowMs
  local accountNow = accountText(account)
  local keyNow = keyText(key)

  -- After this point, the transition must succeed.
  call('MSET', KEYS[2], accountNow, KEYS[3], keyNow, KEYS[4], openHoldText(payer, amount, inputCost, taken))
  if budgets then
    holdBudgets(budgets, amount)
    writeBudgets(opened)
    call('HSET', KEYS[6], budgets.holdField, format('%s %s %d', budgets.keyId, budgets.owner, amount))
  end
  call('ZADD', KEYS[5], decimal(nowMs + ttlMs), memberOf(payer, ARGV[2], decimal(amount)))
end
-- Of the account's and the key's limit, the reply has the one with the lower level.
if accountRequestsLevel < requestsLevel then
  requestsLimit, requestsLevel = accountRequests, accountRequestsLevel
end
if accountTokensLevel < tokensLevel then
  tokensLimit, tokensLevel = accountTokens, accountTokensLevel
end
return format('reserved %d %d %d %d %d%s', account.available, requestsLimit,
  (requestsLevel - requestsLevel % LEVEL_UNIT) / LEVEL_UNIT, tokensLimit, (tokensLevel - tokensLevel % LEVEL_UNIT) / LEVEL_UNIT,
  behind > 0 and ' 1' or '')
