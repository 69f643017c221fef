-- Detects that Redis was restarted or replaced: another process or replication history has another identity. A new epoch
-- makes every account and key of the shard unconfirmed, so that each is compared with Postgres before it pays again.
--
-- KEYS  1 meta
-- ARGV  1 identity of the store · 2 a fresh epoch · 3 the layout that this version reads and writes
-- Returns unchanged or new, epoch · other_layout, the layout in Redis (empty = of a version before 1.0): nothing is written
--
-- NEEDS  prelude: call

-- Versions before 1.0 stored the number of shards, and no layout.
local known = call('HMGET', KEYS[1], 'identity', 'epoch', 'layout', 'shards')
if known[4] or known[3] and known[3] ~= ARGV[3] then
  return { 'other_layout', known[3] or '' }
end
if known[1] == ARGV[1] and known[2] then
  return { 'unchanged', known[2] }
end

-- After this point, the transition must succeed.
call('HSET', KEYS[1], 'identity', ARGV[1], 'epoch', ARGV[2], 'layout', ARGV[3])
return { 'new', ARGV[2] }
