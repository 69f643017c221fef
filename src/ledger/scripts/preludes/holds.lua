-- Stands in front of the scripts that make and resolve holds: reading what is there, and the writes that resolutions share.
-- What is read is a table that the writes keep up to date, so that one script may resolve many holds of one account.
--
-- NEEDS  prelude: call format match MS_PER_DAY COMPACT refuse decimal spentIn
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
local function holdOf(name, payer, text)
  local hold = readHold(name, text)
  if hold and hold.payer ~= payer then
    refuse('the hold belongs to another payer')
  end
  return hold
end

-- A hold that is written for the first time.
local function newHold(payer, layout, amount)
  return {
    layout = layout, state = 'open', payer = payer, record = '', amount = amount, inputCost = 0, tokens = 0, cost = 0, reached = 0,
  }
end

-- Adds `cost` to the month counter of an account or a key. One that stands in a later month (the clock was set back) keeps
-- counting there. Like all up to bury, it writes nothing: the caller writes account and key once in the end.
local function countMonth(counter, cost, month)
  counter.spentMonth = spentIn(month, counter.month, counter.spentMonth) + cost
  counter.month = month > counter.month and month or counter.month
end

-- Frees what a hold took of an account's or a key's limits: the open slot, and the tokens it turned out not to use.
local function freeLimits(counter, hold, tokensUsed)
  counter.open = counter.open - 1
  local unused = hold.tokens - (tokensUsed < MAX_LIMIT and tokensUsed or MAX_LIMIT)
  local level = counter.tokensLevel + unused * LEVEL_UNIT
  counter.tokensLevel = level > MIN_LEVEL and level or MIN_LEVEL
end

-- Gives an account back what one of its holds held.
local function returnHeld(account, amount)
  account.available = account.available + amount
  account.held = account.held - amount
end

-- Takes `cost` from an account and gives it back `returned` from its hold; counts the usage record that says so.
local function chargeAccount(account, cost, returned, month)
  countMonth(account, cost, month)
  account.seq = account.seq + 1
  returnHeld(account, returned)
  account.available = account.available - cost
  account.spent = account.spent + cost
  if cost > returned then
    account.overrun = account.overrun + cost - returned
  end
end

-- Frees what a hold took of its key: its limits, and the budget.
local function freeKey(key, hold, tokensUsed)
  freeLimits(key, hold, tokensUsed)
  key.held = key.held - hold.amount
end

-- What a tombstone of a packed hold says.
local function tombstoneText(hold, state, cost, owner)
  local tombstone = newHold(hold.payer, hold.layout, 0)
  tombstone.state, tombstone.cost, tombstone.record = state, cost, owner or ''
  return holdText(tombstone)
end

-- Turns a hold into a tombstone: what became of it, whose it was (where that is given), and no more. It is never deleted and written anew: in a cluster slot that is
-- moving to another node, a name that vanishes may not be written again, and the script would end between two writes.
local function bury(name, hold, state, cost, ttlMs, owner)
  if hold.layout then
    call('SET', name, tombstoneText(hold, state, cost, owner), 'PX', decimal(ttlMs))
    return
  end
  call('HSET', name, 'state', state, 'payer', hold.payer, 'cost', decimal(cost))
  call('HDEL', name, 'amount', 'inputCost', 'tokens', 'reached', 'record')
  if owner then
    call('HSET', name, 'record', owner)
  end
  call('PEXPIRE', name, decimal(ttlMs))
end

-- Writes what a charge has moved and that its hold was charged, packed ones by one command: where the store refuses the tombstone after
-- the account was written, each repetition would charge and return the hold once more. A packed tombstone has no lifetime yet.
local function writeCharged(accountName, account, keyName, key, holdName, hold, cost)
  if not (account.layout and hold.layout and (not key or key.layout)) then
    writeAccount(accountName, account)
    if key then
      writeKey(keyName, key)
    end
    bury(holdName, hold, 'settled', cost, TOMBSTONE_MS)
    return
  end
  local tombstone = tombstoneText(hold, 'settled', cost)
  if key then
    call('MSET', accountName, accountText(account), keyName, keyText(key), holdName, tombstone)
  else
    call('MSET', accountName, accountText(account), holdName, tombstone)
  end
end

-- Appends a usage record: its envelope and its facts, in one text where the shard is compact. To gateways that know hashes only it is
-- fields, of which id and facts go by older names (eventId and record), and a line in a list of the account's latest, which they show.
-- record: recordId, holdId, payer, kind, cost, held, seq, atMs, flags (with commas), facts,
--         summary (input tokens|output tokens|model), memberId (only where the account has budgets: whose the hold was, or empty)
local function appendRecord(recordsName, recentName, record, layout)
  local accountId, keyId = match(record.payer, '^([^:]*):(.*)$')
  if layout then
    local envelope = format('%s %s %s %s %d %d %d %d %s', record.holdId, accountId, keyId, record.kind, record.cost, record.held,
      record.seq, record.atMs, record.flags)
    local fields = layout == COMPACT and { 'r', envelope .. ' ' .. record.facts } or { 'envelope', envelope, 'facts', record.facts }
    if record.memberId then
      fields[#fields + 1], fields[#fields + 2] = 'member', record.memberId
    end
    call('XADD', recordsName, '*', unpack(fields))
    return
  end
  local cost, atMs = decimal(record.cost), decimal(record.atMs)
  call('XADD', recordsName, '*', 'eventId', record.recordId, 'holdId', record.holdId, 'accountId', accountId,
    'keyId', keyId, 'kind', record.kind, 'cost', cost, 'held', decimal(record.held), 'seq', decimal(record.seq),
    'atMs', atMs, 'flags', record.flags, 'record', record.facts,
    unpack(record.memberId and { 'member', record.memberId } or {}))
  local length = call('LPUSH', recentName, record.recordId .. '|' .. atMs .. '|' .. cost .. '|' .. record.summary)
  local isLong = length > RECENT_COUNT + RECENT_SLACK
  if isLong then
    call('LTRIM', recentName, 0, RECENT_COUNT - 1)
  end
  if isLong or length == 1 then
    call('PEXPIRE', recentName, decimal(RECENT_TTL_MS))
  end
end
