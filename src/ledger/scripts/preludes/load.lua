-- Precedes the scripts that build an account or a key from Postgres.
--
-- NEEDS  prelude: call match MAX_AMOUNT integer
-- BEFORE load-account load-key load-payer

-- Sums the open holds whose entry in the deadlines begins with `prefix`, without those in `excluded`. Returns sum and count.
local function sumOpenHolds(deadlinesName, prefix, excluded)
  local sum, count = 0, 0
  for _, member in ipairs(call('ZRANGE', deadlinesName, 0, -1)) do
    if string.sub(member, 1, #prefix) == prefix and not excluded[member] then
      sum = sum + integer(match(member, '([^:]*)$'), 'held amount', 0, MAX_AMOUNT)
      count = count + 1
    end
  end
  return sum, count
end

-- The shard's epoch, or `fresh` if it has none, because Redis was emptied meanwhile; and whether it had none.
local function epochOf(metaName, fresh)
  local epoch = call('HGET', metaName, 'epoch')
  return epoch or fresh, not epoch
end
