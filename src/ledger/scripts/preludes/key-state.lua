-- Precedes the scripts that write a key's status and limits. Eight arguments: status, requests per minute, tokens per minute,
-- concurrency, monthly budget, expires at ms, allowed models, owning member; of the last seven, an empty string means "none". The
-- allowed models (and providers) are one text, which is only compared; valid secrets and address lists precede it (reserve.lua).
--
-- NEEDS  prelude: MAX_INTEGER refuse
--        limits: MAX_LIMIT limitArgument
-- BEFORE load-key load-payer set-key

local KEY_STATUSES = { active = true, deactivated = true, deleted = true }

-- Reads the eight arguments from `first` on into a key (a new one if missing). Writes nothing.
local function keyInState(key, arguments, first)
  if not KEY_STATUSES[arguments[first]] then
    refuse('no such key status')
  end
  if not arguments[first + 7] then
    refuse('the allowed models or the owner are missing')
  end
  key = key or {
    epoch = '', held = 0, spentMonth = 0, month = 0, version = 0, open = 0,
    requestsLevel = 0, requestsAtMs = 0, tokensLevel = 0, tokensAtMs = 0,
  }
  key.status = arguments[first]
  key.requestsPerMinute = limitArgument(arguments[first + 1], 1, MAX_LIMIT)
  key.tokensPerMinute = limitArgument(arguments[first + 2], 1, MAX_LIMIT)
  key.concurrency = limitArgument(arguments[first + 3], 1, MAX_LIMIT)
  key.monthlyBudget = limitArgument(arguments[first + 4], 0, MAX_INTEGER)
  key.expiresAtMs = limitArgument(arguments[first + 5], 0, MAX_INTEGER)
  key.allowedModels, key.owner = arguments[first + 6], arguments[first + 7]
  key.version = key.version + 1
  return key
end
