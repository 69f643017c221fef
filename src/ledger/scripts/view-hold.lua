-- Shows a hold and its deadline at one moment. Reads only.
--
-- KEYS  1 hold · 2 deadlines
-- ARGV  1 its deadlines member, or the empty string
-- Returns now in ms · state · payer · amount · cost · ms until it is deleted, negative if never · deadline (or empty);
--         state and payer are empty without a hold
--
-- NEEDS  prelude: call currentMs

local hold = readHold(KEYS[1])
local deadline = call('ZSCORE', KEYS[2], ARGV[1]) or ''
if not hold then
  return { currentMs(), '', '', 0, 0, 0, deadline }
end
return { currentMs(), hold.state, hold.payer, hold.amount, hold.cost, call('PTTL', KEYS[1]), deadline }
