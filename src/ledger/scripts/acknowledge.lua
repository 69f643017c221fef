-- Takes records that the history has out of their streams. Both or neither: an entry that is acknowledged but not deleted would
-- stay in its stream for ever.
--
-- KEYS  for each shard: records, meta; if one server has them all, of many shards
-- ARGV  1 consumer group · then for each shard: the number of its entries, and their ids
-- Returns for each shard: how many entries were still there · its epoch, empty if it has none
--
-- NEEDS  prelude: call integer
-- SHARES meta: epoch epoch.ts expire load-account load-key load-payer other-layout.ts read-account read-key reserve
--          view-account withhold
--        records: expire load-payer record-streams.ts settle unsynced-records.ts

-- Lua passes somewhat more arguments than this to one command.
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
