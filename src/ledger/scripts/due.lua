-- Names the open holds that are past their deadline, the oldest first. Reads only.
--
-- KEYS  1 deadlines
-- ARGV  1 how many at most
-- Returns accountId:keyId:holdId:amount of each
--
-- NEEDS  prelude: decimal currentMs
-- SHARES deadlines: check-holds.ts expire ledger.ts load-account load-key release renew reserve settle view-account
--          view-hold

return redis.call('ZRANGE', KEYS[1], '-inf', decimal(currentMs()), 'BYSCORE', 'LIMIT', '0', ARGV[1])
