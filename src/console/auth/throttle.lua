-- Counts one attempt. The time a count lives starts with its first attempt and is not prolonged by further ones.
--
-- KEYS  1 the count
-- ARGV  1 seconds until it starts anew
-- Returns the attempts so far, and the seconds left

local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return { count, redis.call('TTL', KEYS[1]) }
