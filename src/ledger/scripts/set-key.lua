-- Sets a key's status and limits, even if it is not loaded; a later load sets its counters. A load that read Postgres before this
-- change can't undo it, because the version has changed.
--
-- KEYS  1 key · 2 what is loaded
-- ARGV  1 status · 2 requests per minute · 3 tokens per minute · 4 concurrency · 5 monthly budget · 6 expires at ms
--       7 allowed models · 8 owner · 9 accountId:keyId
-- Returns updated
--
-- NEEDS  prelude: call
--        key-state: keyInState

local key = keyInState(readKey(KEYS[1]), ARGV, 1)

-- After this point, the transition must succeed.
writeKey(KEYS[1], key)
call('SADD', KEYS[2], ARGV[9])
return 'updated'
