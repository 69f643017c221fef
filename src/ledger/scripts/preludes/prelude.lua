-- Precedes every script: exact integers, the clock of Redis, calendar months, and the scripts that share a name in Redis.
--
-- Numbers in Lua are doubles. Text is accepted only if it is a plain integer that a double holds exactly; only decimal() writes
-- a number. Redis does not roll back, so a script checks everything before its first write. Redis blocks while a script runs,
-- and a paid request runs two, so unusual code here is the fastest measured: remainders instead of math.floor, %d instead of
-- %.0f, arithmetic on text, one pattern for many numbers. Each is two to three times faster.
--
-- BEFORE acknowledge credit due epoch expire load-account load-budgets load-key load-payer probe read-account read-budgets
--          read-key release renew reserve rights set-account set-key settle view-account view-hold withhold
-- SHARED meta: acknowledge epoch epoch.ts expire load-account load-key load-payer other-layout.ts read-account read-key
--          reserve view-account withhold
--        account: credit expire load-account load-budgets load-payer read-account release reserve set-account settle
--          view-account withhold
--        key: expire load-account load-key load-payer read-budgets read-key release reserve set-key settle view-account
--        hold: credit expire load-account release renew reserve settle view-hold withhold
--        deadlines: check-holds.ts credit due expire ledger.ts load-account load-budgets load-key load-payer release renew
--          reserve settle view-account view-hold withhold
--        records: acknowledge expire load-payer record-streams.ts settle unsynced-records.ts
--        credited: credit load-account load-payer view-account withhold
--        budgets: account-view.ts expire load-account load-budgets load-payer read-budgets release reserve settle
--          view-account

-- Looked up once, since scripts use some of them dozens of times.
local call, find, format, match = redis.call, string.find, string.format, string.match

local MAX_AMOUNT = 9000000000000000
local MAX_INTEGER = 9007199254740991
local MS_PER_DAY = 86400000

-- Ends the script with an error. Call it only before the first write.
local function refuse(message)
  error({ err = 'LEDGER ' .. message })
end

-- Reads digits, with one minus or none, as an integer between least and most.
local function within(digits, name, least, most)
  local value = digits + 0
  if value < least or value > most then
    refuse(name .. ' is out of range')
  end
  return value
end

-- Reads an integer between least and most. `nan`, `1e999`, fractions, signs other than one minus and blanks are refused.
local function integer(text, name, least, most)
  if not text or not find(text, '^%-?%d+$') then
    refuse(name .. ' is not an integer')
  end
  return within(text, name, least, most)
end

-- Writes a number as text; scripts use no other way. A C long has every integer that a double has exactly.
local function decimal(number)
  return format('%d', number)
end

-- A limit as text for replies.
local function limitText(limit)
  return limit < 0 and '' or decimal(limit)
end

-- Milliseconds since 1970 by Redis' clock, the only clock of the ledger.
local function currentMs()
  local time = call('TIME')
  return time[1] * 1000 + (time[2] - time[2] % 1000) / 1000
end

-- Calendar month (UTC) of a moment as yyyymm. Counts in years that begin in March, so that leap days come last.
-- Subtracting the remainder before a division makes the quotient whole, at a third of the cost of math.floor.
local function monthOf(ms)
  local day = (ms - ms % MS_PER_DAY) / MS_PER_DAY + 719468
  local dayOfEra = day % 146097
  local leapDays = (dayOfEra - dayOfEra % 1460) / 1460 - (dayOfEra - dayOfEra % 36524) / 36524
    + (dayOfEra - dayOfEra % 146096) / 146096
  local yearOfEra = (dayOfEra - leapDays - (dayOfEra - leapDays) % 365) / 365
  local leapYears = (yearOfEra - yearOfEra % 4) / 4 - (yearOfEra - yearOfEra % 100) / 100
  local fifths = 5 * (dayOfEra - 365 * yearOfEra - leapYears) + 2
  local monthFromMarch = (fifths - fifths % 153) / 153
  local month = monthFromMarch < 10 and monthFromMarch + 3 or monthFromMarch - 9
  local year = yearOfEra + (day - dayOfEra) / 146097 * 400 + (month <= 2 and 1 or 0)
  return year * 100 + month
end

-- The first millisecond of the month after yyyymm.
local function startOfNextMonth(yearMonth)
  local year = math.floor(yearMonth / 100)
  local month = yearMonth % 100 + 1
  if month == 13 then
    year, month = year + 1, 1
  end
  local marchYear = month <= 2 and year - 1 or year
  local era = math.floor(marchYear / 400)
  local yearOfEra = marchYear - era * 400
  local dayOfYear = math.floor((153 * (month > 2 and month - 3 or month + 9) + 2) / 5)
  local dayOfEra = yearOfEra * 365 + math.floor(yearOfEra / 4) - math.floor(yearOfEra / 100) + dayOfYear
  return (era * 146097 + dayOfEra - 719468) * MS_PER_DAY
end

-- The payer: accountId:keyId, then the acting member, if any. `text` names a member only for a shared key.
local function payerOf(text, owner)
  return owner and owner ~= '' and text .. ':' .. owner or text
end

-- The name of a hold in the sorted set of its shard's hold deadlines.
local function memberOf(payer, holdId, amountText)
  return payer .. ':' .. holdId .. ':' .. amountText
end

-- The spending in `month` by a counter of `counterMonth`: 0 if that is an earlier month.
local function spentIn(month, counterMonth, spent)
  return counterMonth >= month and spent or 0
end
