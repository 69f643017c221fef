-- Precedes the scripts that check budgets of accounts, members and keys. All budgets of an account are one hash: an entry for
-- each scope with a budget (account, member:<id>, key:<id>), and for each hold the scopes that it counts in (hold:<id>). Accounts
-- without budgets have no hash. Scripts of paid requests have a version with this code and one without.
--
-- NEEDS  prelude: call match MS_PER_DAY monthOf startOfNextMonth
-- BEFORE expire load-budgets read-budgets release reserve settle view-account

local WINDOWS = { 'day', 'week', 'month', 'total' }
-- An entry: the held amount, and for each window its number, spending, limit (-1 = none), and a grant with its window.
local ENTRY = '<' .. string.rep('d', 21)
local PER_WINDOW = 5
local UNLIMITED = -1

-- Each window's number at a moment: days since 1970, weeks since 1970 (a week begins on Monday), yyyymm, and 0 for the total.
local function windowsAt(nowMs)
  local day = (nowMs - nowMs % MS_PER_DAY) / MS_PER_DAY
  return { day, (day + 3 - (day + 3) % 7) / 7, monthOf(nowMs), 0 }
end

-- The index in an entry at which a window's numbers begin.
local function firstOf(window)
  return window * PER_WINDOW - 3
end

local function newEntry(windows)
  local entry = { 0 }
  for window = 1, #WINDOWS do
    local first = firstOf(window)
    entry[first], entry[first + 1], entry[first + 2], entry[first + 3], entry[first + 4] = windows[window], 0, UNLIMITED, 0, 0
  end
  return entry
end

-- Whether a hash field stores an entry, not a hold.
local function isEntry(field)
  return field == 'account' or string.find(field, '^member:') ~= nil or string.find(field, '^key:') ~= nil
end

-- An entry's numbers without unpack's end position; nil if there is no entry.
local function readEntry(text)
  return text and { unpack({ struct.unpack(ENTRY, text) }, 1, 21) } or nil
end

local function entryText(entry)
  return struct.pack(ENTRY, unpack(entry, 1, 21))
end

-- The spending in a window. If the clock was set back, a later window keeps counting.
local function spentInWindow(entry, window, windows)
  local first = firstOf(window)
  return entry[first] >= windows[window] and entry[first + 1] or 0
end

-- The budgets that one hold counts in, and the amount held for it. `opened` caches entries by name, so that one script can move
-- many holds of an account.
local function budgetsOf(opened, name, payer, holdId)
  local keyId, owner = match(payer, '^[^:]*:([^:]*):?(.*)$')
  local book = opened[name] or { entries = {}, ended = {} }
  opened[name] = book
  local memberField, keyField, holdField = 'member:' .. owner, 'key:' .. keyId, 'hold:' .. holdId
  local fields = call('HMGET', name, 'account', memberField, keyField, holdField)
  local stampAmount = match(fields[4] or '', ' (%d+)$')
  local bound = {}
  local function bind(field, text)
    book.entries[field] = book.entries[field] or readEntry(text)
    if book.entries[field] then
      bound[#bound + 1] = field
    end
  end
  bind('account', fields[1])
  bind(memberField, fields[2])
  bind(keyField, fields[3])
  return {
    book = book, bound = bound, owner = owner, keyId = keyId, holdField = holdField, held = stampAmount and stampAmount + 0 or nil,
  }
end

-- The budget with the least remaining, even if the hold fits into it.
local function leastLeft(budgets, windows)
  local least
  for _, field in ipairs(budgets.bound) do
    local entry = budgets.book.entries[field]
    for window = 1, #WINDOWS do
      local first = firstOf(window)
      local limit = entry[first + 2]
      if limit ~= UNLIMITED then
        local at = math.max(entry[first], windows[window])
        limit = limit + (entry[first + 3] == at and entry[first + 4] or 0)
        local spent = spentInWindow(entry, window, windows)
        local remaining = limit - spent - entry[1]
        if not least or remaining < least.remaining then
          least = {
            scope = match(field, '^%a+'), window = window, at = at, limit = limit, spent = spent, held = entry[1],
            remaining = remaining,
          }
        end
      end
    end
  end
  return least
end

-- When a window ends; -1: never.
local function endOfWindow(window, at)
  if WINDOWS[window] == 'total' then
    return -1
  end
  if WINDOWS[window] == 'month' then
    return startOfNextMonth(at)
  end
  return (WINDOWS[window] == 'day' and at + 1 or (at + 1) * 7 - 3) * MS_PER_DAY
end

local function holdBudgets(budgets, amount)
  for _, field in ipairs(budgets.bound) do
    local entry = budgets.book.entries[field]
    entry[1] = entry[1] + amount
  end
end

-- Counts a charge in the current windows, and frees the amount held for it.
local function chargeBudgets(budgets, charge, windows)
  local book = budgets.book
  for _, field in ipairs(budgets.bound) do
    local entry = book.entries[field]
    entry[1] = entry[1] - (budgets.held or 0)
    for window = 1, #WINDOWS do
      local first = firstOf(window)
      entry[first + 1] = spentInWindow(entry, window, windows) + charge
      entry[first] = math.max(entry[first], windows[window])
    end
  end
  if budgets.held then
    book.ended[#book.ended + 1] = budgets.holdField
  end
end

-- Writes the changed entries.
local function writeBudgets(opened)
  for name, book in pairs(opened) do
    local values = {}
    for field, entry in pairs(book.entries) do
      values[#values + 1] = field
      values[#values + 1] = entryText(entry)
    end
    if #values > 0 then
      call('HSET', name, unpack(values))
    end
    if #book.ended > 0 then
      call('HDEL', name, unpack(book.ended))
    end
  end
end
