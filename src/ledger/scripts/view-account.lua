-- Shows all values of an account that must agree, at one moment: for loading, rebuilding and checking. Reads only.
--
-- KEYS  1 meta · 2 account · 3 credited entries · 4 deadlines · 5… keys of the account · last: its budgets
-- ARGV  1 account id
-- Returns 1 if the account is loaded and confirmed, else 0
--         · account: available, held, spent, seq, overrun, version, month, spent that month, open; nothing if it is not
--           loaded · ids of the credited entries · deadlines members of the account
--         · per key: open, held, version, month, spent that month; nothing if it is not loaded
--         · now in ms · of the budgets, if any: each field and its value; an entry's is a list of its numbers
--
-- NEEDS  prelude: call currentMs
--        budgets: isEntry readEntry

local members, keys = {}, {}
local prefix = ARGV[1] .. ':'
for _, member in ipairs(call('ZRANGE', KEYS[4], 0, -1)) do
  if string.sub(member, 1, #prefix) == prefix then
    members[#members + 1] = member
  end
end
for index = 5, #KEYS - 1 do
  local key = readKey(KEYS[index])
  keys[index - 4] = key and { key.open, key.held, key.version, key.month, key.spentMonth } or {}
end
local epoch = call('HGET', KEYS[1], 'epoch')
local account = readAccount(KEYS[2])
local counters = account and {
  account.available, account.held, account.spent, account.seq, account.overrun, account.version, account.month,
  account.spentMonth, account.open,
} or {}
local budgets = call('EXISTS', KEYS[#KEYS]) == 1 and call('HGETALL', KEYS[#KEYS]) or {}
for index = 1, #budgets, 2 do
  if isEntry(budgets[index]) then
    budgets[index + 1] = readEntry(budgets[index + 1])
  end
end
return {
  account and account.epoch == epoch and 1 or 0, counters, call('SMEMBERS', KEYS[3]), members, keys, currentMs(), budgets,
}
