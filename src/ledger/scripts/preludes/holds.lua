-- Precedes the scripts that create and resolve holds: reads accounts, keys and holds into tables, and updates these tables, so
-- that one script can resolve many holds of an account.
--
-- NEEDS  prelude: call format MS_PER_DAY refuse decimal spentIn
--        limits: LEVEL_UNIT MAX_LIMIT
-- BEFORE credit expire load-account release settle withhold

-- Lifetime of a tombstone. While it exists, a repeated call gets the first answer. No money depends on it: the money has moved.
local TOMBSTONE_MS = 600000
-- A stuck gateway may settle late, so an expired hold is remembered for longer.
local EXPIRED_TOMBSTONE_MS = MS_PER_DAY
-- The lowest tokens-per-minute level after corrections: far below the largest debt that refill() keeps.
local MIN_LEVEL = -2 * MAX_LIMIT * LEVEL_UNIT

-- Refuses a payer that is not the hold's own; `payer` may leave out the member.
local function checkHolder(holder, payer)
  if holder ~= payer and string.sub(holder, 1, #payer + 1) ~= payer .. ':' then
    refuse('the hold belongs to another payer')
  end
end

-- A hold of this payer, or nil if there is none.
local function holdOf(name, payer)
  local hold = readHold(name)
  if hold then
    checkHolder(hold.payer, payer)
  end
  return hold
end

-- A hold that is written for the first time.
local function newHold(payer, amount)
  return { state = 'open', payer = payer, record = '', amount = amount, inputCost = 0, tokens = 0, cost = 0, reached = 0 }
end

-- A counter's month after a charge in `month`. If the clock was set back, the later month stays.
local function laterOf(month, counterMonth)
  return month > counterMonth and month or counterMonth
end

-- Adds `cost` to the month counter of an account or a key (see laterOf). Like all functions up to bury, it writes nothing: the
-- caller writes account and key once, at the end.
local function countMonth(counter, cost, month)
  counter.spentMonth = spentIn(month, counter.month, counter.spentMonth) + cost
  counter.month = laterOf(month, counter.month)
end

-- The tokens-per-minute level after a hold returned its unused tokens.
local function freedLevel(level, taken, tokensUsed)
  level = level + (taken - (tokensUsed < MAX_LIMIT and tokensUsed or MAX_LIMIT)) * LEVEL_UNIT
  return level > MIN_LEVEL and level or MIN_LEVEL
end

-- Returns a hold's share of the limits of an account or a key: its slot and its unused tokens.
local function freeLimits(counter, hold, tokensUsed)
  counter.open = counter.open - 1
  counter.tokensLevel = freedLevel(counter.tokensLevel, hold.tokens, tokensUsed)
end

-- Returns a hold's amount to its account.
local function returnHeld(account, amount)
  account.available = account.available + amount
  account.held = account.held - amount
end

-- Charges an account `cost`, returns `returned` from the hold, and counts the usage record.
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

-- Returns a hold's share of its key's limits and budget.
local function freeKey(key, hold, tokensUsed)
  freeLimits(key, hold, tokensUsed)
  key.held = key.held - hold.amount
end

-- The tombstone of a hold: its end and its payer.
local function tombstoneText(hold, state, cost)
  local tombstone = newHold(hold.payer, 0)
  tombstone.state, tombstone.cost = state, cost
  return holdText(tombstone)
end

-- Turns a hold into a tombstone.
local function bury(name, hold, state, cost, ttlMs)
  call('SET', name, tombstoneText(hold, state, cost), 'PX', decimal(ttlMs))
end

-- Appends a usage record as one text: its envelope and its facts. Commas separate `flags`.
local function appendRecord(recordsName, holdId, payer, kind, cost, held, seq, atMs, flags, facts)
  local numbers = format(' %d %d %d %d ', cost, held, seq, atMs)
  call('XADD', recordsName, '*', 'r', holdId .. ' ' .. payer .. ' ' .. kind .. numbers .. flags .. ' ' .. facts)
end
