-- Deletes a gateway's note about a target or key that works again. Another gateway's note about a target stays.
--
-- KEYS  1 the health of everything, a hash
-- ARGV  subject, owner, 1 if another owner's note stays
-- Returns how many notes were taken back, 0 or 1

local noted = redis.call('HGET', KEYS[1], ARGV[1])
if not noted then
  return 0
end
if ARGV[3] == '1' and string.match(noted, '^([^|]*)|') ~= ARGV[2] then
  return 0
end
return redis.call('HDEL', KEYS[1], ARGV[1])
