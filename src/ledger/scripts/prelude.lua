-- Stands in front of every script: exact integers, the store's clock, calendar months.
--
-- Lua knows only doubles: text is accepted only where it is a plain integer that a double holds exactly, and a number is
-- written only through decimal(). Redis does not roll back, so every script checks everything before its first write, and
-- touches no name again that it has made to vanish.
--
-- BEFORE credit due epoch expire load-account load-key read-account read-key release renew reserve set-account set-key
--          settle view-account view-hold

local MAX_AMOUNT = 9000000000000000
local MAX_INTEGER = 9007199254740991
local MS_PER_DAY = 86400000

-- Ends the script with an error. Only ever called before the first write.
local function refuse(message)
  error({ err = 'LEDGER ' .. message })
end

-- Reads an integer between least and most. `nan`, `1e999`, fractions, signs other than one minus and blanks are refused.
local function integer(text, name, least, most)
  if type(text) ~= 'string' or #text > 17 or not string.find(text, '^%-?%d+$') then
    refuse(name .. ' is not an integer')
  end
  local value = tonumber(text)
  if value < least or value > most then
    refuse(name .. ' is out of range')
  end
  return value
end

-- Reads an integer that one of our scripts has written; a field that was never written counts as zero.
local function stored(value, name)
  if not value then
    return 0
  end
  return integer(value, name, -MAX_INTEGER, MAX_INTEGER)
end

-- The only way a number becomes text. Adding zero turns minus zero, which Redis would not read, into zero.
local function decimal(number)
  return string.format('%.0f', number + 0)
end

-- Milliseconds since 1970 by the store's clock, the only clock of the ledger.
local function currentMs()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Calendar month (UTC) of a moment as yyyymm. Counts in years that begin in March, so that leap days come last.
local function monthOf(ms)
  local day = math.floor(ms / MS_PER_DAY) + 719468
  local era = math.floor(day / 146097)
  local dayOfEra = day - era * 146097
  local yearOfEra = math.floor(
    (dayOfEra - math.floor(dayOfEra / 1460) + math.floor(dayOfEra / 36524) - math.floor(dayOfEra / 146096)) / 365
  )
  local dayOfYear = dayOfEra - (365 * yearOfEra + math.floor(yearOfEra / 4) - math.floor(yearOfEra / 100))
  local monthFromMarch = math.floor((5 * dayOfYear + 2) / 153)
  local month = monthFromMarch < 10 and monthFromMarch + 3 or monthFromMarch - 9
  local year = yearOfEra + era * 400 + (month <= 2 and 1 or 0)
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

-- What was spent in `month`, given the month that a counter belongs to.
local function spentIn(month, counterMonth, spent)
  return counterMonth >= month and spent or 0
end
