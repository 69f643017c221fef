-- Corrects the budgets of an account from Postgres: limits, and the spending in each window. As in load-account, the caller read
-- Redis (the base) and Postgres at one moment. The growth of an entry's sum since the base is the charges since then. A new entry
-- counts from now on, and applies after the caller has read once more.
--
-- KEYS  1 account · 2 deadlines · 3 budgets
-- ARGV  1 account id · 2 the budgets as JSON: base version, the windows' numbers now; for each entry its field, the base of its sum
--         (absent if new), and for each window spending, limit, and grant with its window; the deadlines members of holds whose charge
--         is in Postgres. Without entries the account has no budgets
-- Returns loaded · changed (the caller repeats)
--
-- NEEDS  prelude: call format match MAX_AMOUNT MAX_INTEGER integer decimal currentMs
--        budgets: WINDOWS UNLIMITED windowsAt firstOf newEntry readEntry entryText

local plan = cjson.decode(ARGV[2])
local windows = windowsAt(currentMs())
local known = {}
local stored = call('EXISTS', KEYS[3]) == 1 and call('HGETALL', KEYS[3]) or {}
for index = 1, #stored, 2 do
  known[stored[index]] = stored[index + 1]
end
if (known.version or '0') ~= plan.version then
  return 'changed'
end
for window = 1, #WINDOWS do
  if windows[window] ~= plan.windows[window] then
    return 'changed'
  end
end

local values, entries, isWhole = { version = decimal(plan.version + 1) }, {}, true
for _, wanted in ipairs(plan.entries) do
  local entry = readEntry(known[wanted.field])
  local sum = firstOf(#WINDOWS) + 1
  if (entry == nil) ~= (wanted.base == nil) then
    return 'changed'
  end
  if entry then
    local charged = entry[sum] - wanted.base
    -- The new charge may be the repeat of one that Postgres already has.
    if charged ~= 0 and not plan.isConfirmed then
      return 'changed'
    end
    for window = 1, #WINDOWS do
      local first = firstOf(window)
      entry[first] = windows[window]
      entry[first + 1] = integer(wanted.spent[window], 'spent', -MAX_INTEGER, MAX_INTEGER) + charged
      entry[first + 2] = integer(wanted.limits[window], 'limit', UNLIMITED, MAX_INTEGER)
      entry[first + 3] = integer(wanted.grantAt[window], 'grant window', 0, MAX_INTEGER)
      entry[first + 4] = integer(wanted.grants[window], 'grant', 0, MAX_AMOUNT)
    end
  else
    isWhole = false
  end
  entries[wanted.field] = entry or newEntry(windows)
  entries[wanted.field][1] = 0
end

-- An open hold counts for the member who made it.
local isStale, prefix = {}, ARGV[1] .. ':'
for _, member in ipairs(plan.stale) do
  isStale[member] = true
end
for _, member in ipairs(#plan.entries > 0 and call('ZRANGE', KEYS[2], 0, -1) or {}) do
  local keyId, owner, holdId, amount = match(member, '^[^:]*:([^:]*):?([^:]*):([^:]*):(%d+)$')
  if string.sub(member, 1, #prefix) == prefix and keyId ~= '-' and not isStale[member] then
    values['hold:' .. holdId] = format('%s %s %s', keyId, owner, amount)
    for _, scope in ipairs({ 'account', 'key:' .. keyId, 'member:' .. owner }) do
      if entries[scope] then
        entries[scope][1] = entries[scope][1] + amount
      end
    end
  end
end
for field, entry in pairs(entries) do
  values[field] = entryText(entry)
end
local account = readAccount(KEYS[1])

-- After this point, the transition must succeed.
if #plan.entries > 0 then
  for field, value in pairs(values) do
    call('HSET', KEYS[3], field, value)
  end
end
for field in pairs(known) do
  if #plan.entries == 0 or not values[field] then
    call('HDEL', KEYS[3], field)
  end
end
if account then
  account.hasBudgets = #plan.entries > 0 and 1 or 0
  writeAccount(KEYS[1], account)
end
return isWhole and 'loaded' or 'changed'
