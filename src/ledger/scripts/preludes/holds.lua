-- Stands in front of the scripts that make and resolve holds: reading what is there, and the writes that resolutions share.
-- What is read is a table that the writes keep up to date, so that one script may resolve many holds of one account.
--
-- NEEDS  prelude: call match MS_PER_DAY refuse stored decimal spentIn
--        limits: LEVEL_UNIT MAX_LIMIT
-- BEFORE credit expire load-account release settle withhold

local RECENT_COUNT = 50
-- Trimming is left until some have gathered: readers take the first fifty anyway.
local RECENT_SLACK = 14
local RECENT_TTL_MS = 90 * MS_PER_DAY
-- A replay gets the first answer for this long. The money of a tombstone is already moved, so its TTL loses nothing.
local TOMBSTONE_MS = 600000
-- A gateway that was only stuck may settle late; an expired hold is remembered for longer, so that it still finds it.
local EXPIRED_TOMBSTONE_MS = MS_PER_DAY
-- How deep the tokens-per-minute level may fall by corrections; far below any debt that refill() respects.
local MIN_LEVEL = -2 * MAX_LIMIT * LEVEL_UNIT

-- A hold, or nil where there is none. Refuses a payer that is not the hold's own.
local function readHold(name, payer)
  local fields = call('HMGET', name, 'state', 'payer', 'amount', 'inputCost', 'tokens', 'cost', 'reached', 'record')
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
    facts = fields[8] or '',
  }
end

-- An account's counters, each proved to be an integer, or nil where the account is not loaded.
local function readAccount(name)
  local fields = call('HMGET', name, 'available', 'held', 'spent', 'month', 'spentMonth', 'seq', 'overrun', 'open',
    'tokensLevel')
  if not fields[1] then
    return nil
  end
  return {
    available = stored(fields[1], 'available'),
    held = stored(fields[2], 'held'),
    spent = stored(fields[3], 'spent'),
    month = stored(fields[4], 'month'),
    spentMonth = stored(fields[5], 'spent this month'),
    seq = stored(fields[6], 'seq'),
    overrun = stored(fields[7], 'overrun'),
    open = stored(fields[8], 'account open'),
    tokensLevel = stored(fields[9], 'account tokens level'),
  }
end

-- A key's counters, each proved to be an integer, or nil where the key is not loaded.
local function readKey(name)
  local fields = call('HMGET', name, 'status', 'open', 'held', 'month', 'spentMonth', 'tokensLevel')
  if not fields[1] then
    return nil
  end
  return {
    open = stored(fields[2], 'open'),
    held = stored(fields[3], 'key held'),
    month = stored(fields[4], 'month'),
    spentMonth = stored(fields[5], 'key spent'),
    tokensLevel = stored(fields[6], 'tokens level'),
  }
end

-- Adds `cost` to the month counter of an account or a key. One that stands in a later month (the clock was set back) keeps
-- counting there. Writes only the month, and only where a new one begins.
local function countMonth(name, counter, cost, month)
  counter.spentMonth = spentIn(month, counter.month, counter.spentMonth) + cost
  if month > counter.month then
    counter.month = month
    call('HSET', name, 'month', decimal(month))
  end
end

-- Frees what a hold took of an account's or a key's limits: the open slot, and the tokens it turned out not to use. Writes
-- nothing.
local function freeLimits(counter, hold, tokensUsed)
  counter.open = counter.open - 1
  local unused = hold.tokens - (tokensUsed < MAX_LIMIT and tokensUsed or MAX_LIMIT)
  local level = counter.tokensLevel + unused * LEVEL_UNIT
  counter.tokensLevel = level > MIN_LEVEL and level or MIN_LEVEL
end

-- Gives an account back what one of its holds held.
local function returnHeld(name, account, amount)
  account.available = account.available + amount
  account.held = account.held - amount
  call('HSET', name, 'available', decimal(account.available), 'held', decimal(account.held),
    'open', decimal(account.open), 'tokensLevel', decimal(account.tokensLevel))
end

-- Takes `cost` from an account and gives it back `returned` from its hold; counts the usage record that says so. What was
-- read in this very script is written as a sum: nothing can have moved in between.
local function chargeAccount(name, account, cost, returned, month)
  countMonth(name, account, cost, month)
  account.seq = account.seq + 1
  account.available = account.available + returned - cost
  account.held = account.held - returned
  account.spent = account.spent + cost
  call('HSET', name, 'available', decimal(account.available), 'held', decimal(account.held),
    'spent', decimal(account.spent), 'seq', decimal(account.seq), 'spentMonth', decimal(account.spentMonth),
    'open', decimal(account.open), 'tokensLevel', decimal(account.tokensLevel))
  if cost > returned then
    account.overrun = account.overrun + cost - returned
    call('HSET', name, 'overrun', decimal(account.overrun))
  end
end

-- Frees what a hold took of its key: its limits, and the budget. Writes nothing.
local function freeKey(key, hold, tokensUsed)
  freeLimits(key, hold, tokensUsed)
  key.held = key.held - hold.amount
end

-- Writes what charges and freed holds have made of a key's counters.
local function writeKey(name, key)
  call('HSET', name, 'spentMonth', decimal(key.spentMonth), 'open', decimal(key.open), 'held', decimal(key.held), 'tokensLevel', decimal(key.tokensLevel))
end

-- Turns a hold into a tombstone: what became of it, and no more. It is never deleted and written anew: in a cluster slot that is
-- moving to another node, a name that vanishes may not be written again, and the script would end between two writes.
local function bury(name, state, payer, cost, ttlMs)
  call('HSET', name, 'state', state, 'payer', payer, 'cost', decimal(cost))
  call('HDEL', name, 'amount', 'inputCost', 'tokens', 'reached', 'record')
  call('PEXPIRE', name, decimal(ttlMs))
end

-- Appends a usage record, and lists it among the account's latest. In the stream, its id and facts go by older names, which
-- gateways of several versions share: eventId and record.
-- record: recordId, holdId, payer, kind, cost, held, seq, atMs, flags (with commas), facts,
--         summary (input tokens|output tokens|model)
local function appendRecord(recordsName, recentName, record)
  local accountId, keyId = match(record.payer, '^([^:]*):(.*)$')
  local cost, atMs = decimal(record.cost), decimal(record.atMs)
  call('XADD', recordsName, '*', 'eventId', record.recordId, 'holdId', record.holdId, 'accountId', accountId,
    'keyId', keyId, 'kind', record.kind, 'cost', cost, 'held', decimal(record.held), 'seq', decimal(record.seq),
    'atMs', atMs, 'flags', record.flags, 'record', record.facts)
  local line = record.recordId .. '|' .. atMs .. '|' .. cost .. '|' .. record.summary
  local length = call('LPUSH', recentName, line)
  local isLong = length > RECENT_COUNT + RECENT_SLACK
  if isLong then
    call('LTRIM', recentName, 0, RECENT_COUNT - 1)
  end
  if isLong or length == 1 then
    call('PEXPIRE', recentName, decimal(RECENT_TTL_MS))
  end
end
