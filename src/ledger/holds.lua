-- Stands in front of the scripts that make and resolve holds: reading one, and the writes that every resolution shares.

local RECENT_COUNT = 50
local RECENT_TTL_MS = 90 * MS_PER_DAY
-- A replay gets the first answer for this long. The money of a tombstone is already moved, so its TTL loses nothing.
local TOMBSTONE_MS = 600000
-- A gateway that was only stuck may settle late; an expired hold is remembered for longer, so that it still finds it.
local EXPIRED_TOMBSTONE_MS = MS_PER_DAY
-- How deep the tokens-per-minute level may fall by corrections; far below any debt that refill() respects.
local MIN_LEVEL = -2 * MAX_LIMIT * LEVEL_UNIT

-- The hold as its shard's deadlines name it.
local function memberOf(payer, holdId, amount)
  return payer .. ':' .. holdId .. ':' .. decimal(amount)
end

-- A hold, or nil where there is none. Refuses a payer that is not the hold's own.
local function readHold(key, payer)
  local fields = redis.call('HMGET', key, 'state', 'payer', 'amount', 'inputCost', 'tokens', 'cost', 'reached', 'record')
  if not fields[1] then
    return nil
  end
  if fields[2] ~= payer then
    refuse('the hold belongs to another payer')
  end
  return {
    state = fields[1],
    amount = stored(fields[3], 'amount'),
    inputCost = stored(fields[4], 'input cost'),
    tokens = stored(fields[5], 'tokens'),
    cost = stored(fields[6], 'cost'),
    isReached = fields[7] == '1',
    record = fields[8] or '',
  }
end

-- An account's counters, each proved to be an integer, or nil where the account is not loaded.
local function readAccount(key)
  local fields = redis.call('HMGET', key, 'status', 'available', 'held', 'spent', 'month', 'spentMonth', 'seq', 'overrun')
  if not fields[1] then
    return nil
  end
  for index = 2, 8 do
    stored(fields[index], 'account field')
  end
  return { available = tonumber(fields[2]), held = tonumber(fields[3]), month = stored(fields[5], 'month') }
end

-- A key's counters, each proved to be an integer, or nil where the key is not loaded.
local function readKey(key)
  local fields = redis.call('HMGET', key, 'status', 'open', 'held', 'month', 'spentMonth', 'tokensLevel')
  if not fields[1] then
    return nil
  end
  for index = 2, 6 do
    stored(fields[index], 'key field')
  end
  return { month = stored(fields[4], 'month'), tokensLevel = fields[6] }
end

-- Adds `cost` to a month counter. A counter that stands in a later month (the clock was set back) keeps counting there.
local function countMonth(key, counter, cost, month)
  if counter.month < month then
    redis.call('HSET', key, 'month', decimal(month), 'spentMonth', decimal(cost))
    counter.month = month
  else
    redis.call('HINCRBY', key, 'spentMonth', decimal(cost))
  end
end

-- Takes `cost` from an account that has just got `returned` back from its hold.
local function chargeAccount(key, account, cost, returned, month)
  redis.call('HINCRBY', key, 'available', decimal(returned - cost))
  if returned > 0 then
    redis.call('HINCRBY', key, 'held', decimal(-returned))
  end
  if cost > returned then
    redis.call('HINCRBY', key, 'overrun', decimal(cost - returned))
  end
  redis.call('HINCRBY', key, 'spent', decimal(cost))
  countMonth(key, account, cost, month)
end

-- Frees what a hold took of its key: the open slot, the budget, and the tokens it turned out not to use.
local function freeKey(keyName, key, hold, tokensUsed)
  if not key then
    return
  end
  redis.call('HINCRBY', keyName, 'open', '-1')
  redis.call('HINCRBY', keyName, 'held', decimal(-hold.amount))
  if key.tokensLevel then
    local level = tonumber(key.tokensLevel) + (hold.tokens - math.min(tokensUsed, MAX_LIMIT)) * LEVEL_UNIT
    key.tokensLevel = decimal(math.max(MIN_LEVEL, level))
    redis.call('HSET', keyName, 'tokensLevel', key.tokensLevel)
  end
end

-- Turns a hold into the short record of what became of it. It is never deleted and written anew: in a cluster slot that is
-- moving to another node, a name that vanishes may not be written again, and the script would end between two writes.
local function bury(key, state, payer, cost, ttlMs)
  redis.call('HSET', key, 'state', state, 'payer', payer, 'cost', decimal(cost))
  redis.call('HDEL', key, 'amount', 'inputCost', 'tokens', 'reached', 'record')
  redis.call('PEXPIRE', key, decimal(ttlMs))
end

-- Appends a usage event and lists it among the account's latest charges. Returns its number.
-- event: eventId, holdId, payer, kind, cost, held, atMs, flags, record, summary (input tokens|output tokens|model)
local function appendEvent(eventsKey, accountKey, recentKey, event)
  local seq = redis.call('HINCRBY', accountKey, 'seq', '1')
  local colon = string.find(event.payer, ':', 1, true)
  redis.call('XADD', eventsKey, '*', 'eventId', event.eventId, 'holdId', event.holdId,
    'accountId', string.sub(event.payer, 1, colon - 1), 'keyId', string.sub(event.payer, colon + 1),
    'kind', event.kind, 'cost', decimal(event.cost), 'held', decimal(event.held), 'seq', decimal(seq),
    'atMs', decimal(event.atMs), 'flags', table.concat(event.flags, ','), 'record', event.record)
  local line = table.concat({ event.eventId, decimal(event.atMs), decimal(event.cost), event.summary }, '|')
  if redis.call('LPUSH', recentKey, line) > RECENT_COUNT then
    redis.call('LTRIM', recentKey, 0, RECENT_COUNT - 1)
  end
  redis.call('PEXPIRE', recentKey, decimal(RECENT_TTL_MS))
  return seq
end
