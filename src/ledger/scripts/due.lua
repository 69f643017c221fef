-- Names the open holds that are past their deadline, the oldest first. Reads only.
--
-- KEYS  1 deadlines
-- ARGV  1 how many at most
-- Returns accountId:keyId:holdId:amount of each

return redis.call('ZRANGE', KEYS[1], '-inf', decimal(currentMs()), 'BYSCORE', 'LIMIT', '0', ARGV[1])
