-- Reads a key's state and use. Reads only.
--
-- KEYS  1 meta · 2 key
-- ARGV  none
-- Returns status, requests per minute, tokens per minute, concurrency, monthly budget, expires at ms (each
--         empty without its own), open, held, spent this month, secrets, addresses and allowed models (empty = the first, and all),
--         owner · or nothing if the key must be loaded
--
-- NEEDS  prelude: call limitText currentMs monthOf spentIn

local epoch = call('HGET', KEYS[1], 'epoch')
local key = readKey(KEYS[2])
if not key or key.epoch ~= epoch then
  return {}
end
return {
  key.status, limitText(key.requestsPerMinute), limitText(key.tokensPerMinute), limitText(key.concurrency),
  limitText(key.monthlyBudget), limitText(key.expiresAtMs), key.open, key.held,
  spentIn(monthOf(currentMs()), key.month, key.spentMonth), key.allowedModels, key.owner,
}
