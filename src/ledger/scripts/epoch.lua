-- Notices that the store is not the one it was: another process, or another line of replication, has another identity.
-- A new epoch makes every account and key of the shard unconfirmed, so that each is compared with the history before it
-- pays for anything again.
--
-- A shard that no gateway has used yet is compact from the beginning; one of an older gateway when an operator says so.
--
-- KEYS  1 meta
-- ARGV  1 identity of the store · 2 a fresh epoch · 3 shard count
-- Returns unchanged or new, epoch, what the shard says of its number and layout · wrong_shard_count
--
-- NEEDS  prelude: call COMPACT_SHARDS layoutOf
-- SHARES meta: acknowledge epoch.ts expire load-account load-key load-payer pack.ts read-account read-key reserve
--          view-account withhold

local known = call('HMGET', KEYS[1], 'identity', 'epoch', 'shards')
local shards = known[3] or COMPACT_SHARDS
if shards ~= ARGV[3] and not layoutOf(shards) then
  return { 'wrong_shard_count' }
end
if known[1] == ARGV[1] and known[2] then
  return { 'unchanged', known[2], shards }
end

-- After this point, the transition must succeed.
call('HSET', KEYS[1], 'identity', ARGV[1], 'epoch', ARGV[2], 'shards', shards)
return { 'new', ARGV[2], shards }
