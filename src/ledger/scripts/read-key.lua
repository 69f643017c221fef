-- Reads a key's state and use. Reads only.
--
-- KEYS  1 meta · 2 key
-- ARGV  none
-- Returns status, requests per minute, tokens per minute, concurrency, monthly budget, expires at ms (each empty where it
--         has none of its own), open, held, spent this month, allowed models (empty = all) · or nothing where the key has to
--         be loaded
--
-- NEEDS  prelude: call stored decimal currentMs monthOf spentIn
-- SHARES meta: acknowledge epoch epoch.ts expire load-account load-key read-account reserve view-account withhold
--        key: expire load-account load-key release reserve set-key settle view-account

local epoch = call('HGET', KEYS[1], 'epoch')
local fields = call('HMGET', KEYS[2], 'status', 'requestsPerMinute', 'tokensPerMinute', 'concurrency',
  'monthlyBudget', 'expiresAtMs', 'open', 'held', 'month', 'spentMonth', 'epoch', 'allowedModels')
if not fields[1] or not epoch or fields[11] ~= epoch or not fields[12] then
  return {}
end
local spent = spentIn(monthOf(currentMs()), stored(fields[9], 'month'), stored(fields[10], 'spent this month'))
return { fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], decimal(stored(fields[7], 'open')),
  decimal(stored(fields[8], 'held')), decimal(spent), fields[12] }
