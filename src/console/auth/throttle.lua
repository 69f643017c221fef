-- Counts an attempt, or uncounts one. A count's lifetime begins with its first attempt. Uncounting never begins a new count.
--
-- KEYS  1 the count
-- ARGV  1 seconds until it starts anew, or 0: take one attempt back
-- Returns the attempts so far, and the seconds left

if ARGV[1] == '0' then
  local left = tonumber(redis.call('GET', KEYS[1]) or '0')
  if left > 0 then left = redis.call('DECR', KEYS[1]) end
  return { left, 0 }
end
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return { count, redis.call('TTL', KEYS[1]) }
