-- Makes an account's status hold at once.
--
-- KEYS  1 account
-- ARGV  1 status
-- Returns updated · unknown_account
--
-- NEEDS  prelude: call refuse stored
-- SHARES account: credit expire load-account read-account release reserve settle view-account

if ARGV[1] ~= 'active' and ARGV[1] ~= 'suspended' then
  refuse('no such account status')
end
local version = call('HMGET', KEYS[1], 'status', 'version')
if not version[1] then
  return 'unknown_account'
end
stored(version[2], 'version')

-- After this point, the transition must succeed.
call('HSET', KEYS[1], 'status', ARGV[1])
call('HINCRBY', KEYS[1], 'version', '1')
return 'updated'
