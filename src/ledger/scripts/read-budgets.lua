-- Reads the budgets of an account: all of them, or those that bind one of its keys. Reads only.
--
-- KEYS  1 budgets · 2 a key; left out = all budgets
-- ARGV  1 the key's id
-- Returns now in ms · each field of an entry, and the list of its numbers · 1 if the key is unknown: the caller loads it
--
-- NEEDS  prelude: call currentMs
--        budgets: isEntry readEntry

local values = {}
local function add(field, text)
  if isEntry(field) and text then
    values[#values + 1] = field
    values[#values + 1] = readEntry(text)
  end
end

local exists = call('EXISTS', KEYS[1]) == 1
if exists and not KEYS[2] then
  local all = call('HGETALL', KEYS[1])
  for index = 1, #all, 2 do
    add(all[index], all[index + 1])
  end
elseif exists then
  local key = readKey(KEYS[2])
  if not key then
    return { currentMs(), {}, 1 }
  end
  local fields = { 'account', 'member:' .. key.owner, 'key:' .. ARGV[1] }
  for index, text in ipairs(call('HMGET', KEYS[1], unpack(fields))) do
    add(fields[index], text)
  end
end
return { currentMs(), values }
