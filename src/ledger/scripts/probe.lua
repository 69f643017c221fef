-- Writes like a paid request, to empty names: it fails if Redis, or the rights of its user, would refuse a paid request. Like a
-- reserve, it does not run if Redis is out of memory.
--
-- KEYS  1 a hash · 2 a sorted set · 3 a stream · 4 a set · 5 a string, all of them the probe's own
-- ARGV  none
-- Returns its time, in milliseconds since 1970
--
-- NEEDS  prelude: call decimal currentMs

local now = decimal(currentMs())
call('HSET', KEYS[1], 'atMs', now, 'count', '0')
call('HDEL', KEYS[1], 'count')
call('HGET', KEYS[1], 'atMs')
call('HMGET', KEYS[1], 'atMs', 'count')
call('HGETALL', KEYS[1])
call('ZADD', KEYS[2], now, 'probe')
call('ZSCORE', KEYS[2], 'probe')
call('ZRANGE', KEYS[2], 0, -1)
call('ZREM', KEYS[2], 'probe')
local entry = call('XADD', KEYS[3], '*', 'atMs', now)
call('XLEN', KEYS[3])
call('XACK', KEYS[3], 'probe', entry)
call('XDEL', KEYS[3], entry)
call('SADD', KEYS[4], 'probe')
call('SCARD', KEYS[4])
call('SISMEMBER', KEYS[4], 'probe')
call('SMEMBERS', KEYS[4])
call('SET', KEYS[5], now)
call('MSET', KEYS[5], now)
call('GET', KEYS[5])
call('MGET', KEYS[5])
call('PTTL', KEYS[5])
for index = 1, 5 do
  if call('EXISTS', KEYS[index]) == 1 then
    call('PEXPIRE', KEYS[index], '60000')
  end
end
return now
