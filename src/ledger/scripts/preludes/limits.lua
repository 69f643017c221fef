-- Precedes the scripts that check rate limits: token buckets in integer arithmetic.
--
-- A bucket of `limit` per minute gains `limit` level units per millisecond, and one request or token is 60,000 units, so
-- nothing is ever rounded. A level below zero is a debt: more was used than had been taken.
--
-- NEEDS  prelude: integer
-- BEFORE credit expire load-account load-key load-payer release reserve set-account set-key settle withhold

local LEVEL_UNIT = 60000
local MAX_LIMIT = 10000000000
-- A guess, since it is unknown when one of the open requests ends.
local CONCURRENCY_RETRY_MS = 1000

-- Reads a limit from an argument; -1 (no own limit) if the argument is empty.
local function limitArgument(text, least, most)
  if text == '' then
    return -1
  end
  return integer(text, 'limit', least, most)
end

local function limitOr(own, default)
  return own < 0 and default or own
end

local function smaller(one, other)
  return one < other and one or other
end

-- The level at nowMs: full before the first use, at most full, and full again after at most two minutes.
local function refill(level, atMs, limit, nowMs)
  local full = limit * LEVEL_UNIT
  if atMs == 0 then
    return full
  end
  local elapsed = nowMs - atMs
  if elapsed < 0 then
    elapsed = 0
  elseif elapsed > 2 * LEVEL_UNIT then
    elapsed = 2 * LEVEL_UNIT
  end
  level = (level < -full and -full or level) + elapsed * limit
  return level < full and level or full
end
