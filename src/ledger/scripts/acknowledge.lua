-- Acknowledges and deletes records that are in Postgres. In one step: an acknowledged entry that is not deleted would stay for ever.
--
-- KEYS  for each shard: records, meta; if one server has them all, of many shards
-- ARGV  1 consumer group · then for each shard: the number of its entries, and their ids
-- Returns for each shard: how many entries were still there · its epoch, empty if it has none
--
-- NEEDS  prelude: call integer

-- Maximum ids in one command. Lua can pass slightly more arguments.
local MAX_ENTRIES = 4000
local answers, at = {}, 2
for index = 1, #KEYS, 2 do
  local last = at + integer(ARGV[at], 'entries', 1, MAX_ENTRIES)
  call('XACK', KEYS[index], ARGV[1], unpack(ARGV, at + 1, last))
  local deleted = call('XDEL', KEYS[index], unpack(ARGV, at + 1, last))
  answers[index] = deleted
  answers[index + 1] = call('HGET', KEYS[index + 1], 'epoch') or ''
  at = last + 1
end
return answers
