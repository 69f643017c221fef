-- Whether an idempotency key is claimed.
--
-- KEYS  1 the claim, a hash
-- Returns 1 or 0

return redis.call('HMGET', KEYS[1], 'state')[1] and 1 or 0
