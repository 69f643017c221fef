-- Sets an account's status and limits.
--
-- KEYS  1 account
-- ARGV  1 status · 2 requests per minute · 3 tokens per minute · 4 concurrency (each empty = the catalogue's)
-- Returns updated · unknown_account
--
-- NEEDS  prelude: refuse
--        limits: MAX_LIMIT limitArgument

if ARGV[1] ~= 'active' and ARGV[1] ~= 'suspended' then
  refuse('no such account status')
end
local account = readAccount(KEYS[1])
if not account then
  return 'unknown_account'
end
account.status = ARGV[1]
account.requestsPerMinute = limitArgument(ARGV[2], 1, MAX_LIMIT)
account.tokensPerMinute = limitArgument(ARGV[3], 1, MAX_LIMIT)
account.concurrency = limitArgument(ARGV[4], 1, MAX_LIMIT)
account.version = account.version + 1

-- After this point, the transition must succeed.
writeAccount(KEYS[1], account)
return 'updated'
