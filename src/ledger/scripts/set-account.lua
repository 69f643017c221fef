-- Makes an account's status and limits hold at once.
--
-- KEYS  1 account
-- ARGV  1 status · 2 requests per minute · 3 tokens per minute · 4 concurrency (each empty = the catalogue's)
-- Returns updated · unknown_account
--
-- NEEDS  prelude: call refuse stored
--        limits: limitOr
-- SHARES account: credit expire load-account read-account release reserve settle view-account withhold

if ARGV[1] ~= 'active' and ARGV[1] ~= 'suspended' then
  refuse('no such account status')
end
for index = 2, 4 do
  limitOr(ARGV[index], 1)
end
local version = call('HMGET', KEYS[1], 'status', 'version')
if not version[1] then
  return 'unknown_account'
end
stored(version[2], 'version')

-- After this point, the transition must succeed.
call('HSET', KEYS[1], 'status', ARGV[1], 'requestsPerMinute', ARGV[2], 'tokensPerMinute', ARGV[3],
  'concurrency', ARGV[4])
call('HINCRBY', KEYS[1], 'version', '1')
return 'updated'
