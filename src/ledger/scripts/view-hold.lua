-- Shows a hold and its deadline at one moment. Reads only.
--
-- KEYS  1 hold · 2 deadlines
-- ARGV  1 its deadlines member, or the empty string
-- Returns now in ms · state · payer · amount · cost · how many ms it is still kept, negative where for good · deadline (empty
--         where there is none); state and payer are empty if there is no hold
--
-- NEEDS  prelude: call currentMs
-- SHARES hold: credit expire load-account release renew reserve settle withhold
--        deadlines: check-holds.ts credit due expire ledger.ts load-account load-budgets load-key load-payer release renew
--          reserve settle view-account withhold

local hold = readHold(KEYS[1])
local deadline = call('ZSCORE', KEYS[2], ARGV[1]) or ''
if not hold then
  return { currentMs(), '', '', 0, 0, 0, deadline }
end
return { currentMs(), hold.state, hold.payer, hold.amount, hold.cost, call('PTTL', KEYS[1]), deadline }
