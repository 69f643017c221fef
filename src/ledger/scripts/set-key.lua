-- Makes a key's status and limits hold at once. A key that is not loaded gets them too, and its counters when it is: so a
-- load that read the history before this change cannot undo it, because the version has moved on.
--
-- KEYS  1 key · 2 what is loaded
-- ARGV  1 status · 2 requests per minute · 3 tokens per minute · 4 concurrency · 5 monthly budget · 6 expires at ms
--       7 allowed models · 8 owner · 9 accountId:keyId
-- Returns updated
--
-- NEEDS  prelude: call
--        key-state: keyInState
-- SHARES key: expire load-account load-key load-payer read-budgets read-key release reserve settle view-account

local key = keyInState(readKey(KEYS[1]), ARGV, 1)

-- After this point, the transition must succeed.
writeKey(KEYS[1], key)
call('SADD', KEYS[2], ARGV[9])
return 'updated'
