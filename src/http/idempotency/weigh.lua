-- Records how much an account stores, and returns the accounts that store too much, the largest first.
--
-- KEYS  1 the accounts by the bytes that they store, a sorted set
-- ARGV  account id, or '' to only read the others · bytes that it stores · minimum to record · maximum bytes of an account ·
--       time to live in ms
-- Returns accounts that store more than the maximum, ten at most

if ARGV[1] == '' then
  -- Without an account, nothing is recorded.
elseif tonumber(ARGV[2]) < tonumber(ARGV[3]) then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
local heaviest = redis.call('ZRANGE', KEYS[1], 0, 9, 'REV', 'WITHSCORES')
local reply = {}
for index = 1, #heaviest, 2 do
  if tonumber(heaviest[index + 1]) > tonumber(ARGV[4]) then
    reply[#reply + 1] = heaviest[index]
  end
end
return reply
