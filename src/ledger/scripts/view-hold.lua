-- Shows a hold and its deadline at one moment. Reads only.
--
-- KEYS  1 hold · 2 deadlines
-- ARGV  1 its deadlines member
-- Returns now in ms · state · amount · deadline (each empty where there is none)
--
-- NEEDS  prelude: call currentMs
-- SHARES hold: check-holds.ts credit expire load-account release renew reserve settle withhold
--        deadlines: check-holds.ts credit due expire ledger.ts load-account load-key release renew reserve settle
--          view-account withhold

local hold = call('HMGET', KEYS[1], 'state', 'amount')
return { currentMs(), hold[1] or '', hold[2] or '', call('ZSCORE', KEYS[2], ARGV[1]) or '' }
