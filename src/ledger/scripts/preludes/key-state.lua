-- Stands in front of the scripts that write a key's status and limits. Seven arguments: status, requests per minute, tokens
-- per minute, concurrency, monthly budget, expires at ms, allowed models. Of the last six the empty string means none of
-- its own. The allowed models are one text that is only ever compared.
--
-- NEEDS  prelude: call MAX_INTEGER refuse integer
--        limits: isSet limitOr
-- BEFORE load-key set-key

local KEY_STATUSES = { active = true, deactivated = true, deleted = true }

local function checkKeyState(arguments, first)
  if not KEY_STATUSES[arguments[first]] then
    refuse('no such key status')
  end
  for index = first + 1, first + 3 do
    limitOr(arguments[index], 1)
  end
  for index = first + 4, first + 5 do
    if isSet(arguments[index]) then
      integer(arguments[index], 'key limit', 0, MAX_INTEGER)
    end
  end
  if not arguments[first + 6] then
    refuse('the allowed models are missing')
  end
end

local function writeKeyState(name, arguments, first)
  call('HSET', name, 'status', arguments[first], 'requestsPerMinute', arguments[first + 1],
    'tokensPerMinute', arguments[first + 2], 'concurrency', arguments[first + 3],
    'monthlyBudget', arguments[first + 4], 'expiresAtMs', arguments[first + 5], 'allowedModels', arguments[first + 6])
end
