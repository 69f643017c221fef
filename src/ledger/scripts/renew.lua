-- Extends open holds and records each request's progress: expire.lua charges it if the gateway dies. A deadline never moves back.
-- "Upstream reached" stays true. The last recorded cost counts.
--
-- KEYS  1 deadlines · 2… holds
-- ARGV  per hold: account id, time to live in ms, cost, reached (1 or 0), facts
-- Returns per hold: renewed · settled · released · expired · unknown_hold
--
-- NEEDS  prelude: call match MAX_AMOUNT MS_PER_DAY refuse integer decimal currentMs memberOf

local outcomes, renewals = {}, {}
for index = 2, #KEYS do
  local at = (index - 2) * 5
  local accountId = ARGV[at + 1]
  local ttlMs = integer(ARGV[at + 2], 'time to live', 1, MS_PER_DAY)
  local cost = integer(ARGV[at + 3], 'cost', 0, MAX_AMOUNT)
  local hold = readHold(KEYS[index])
  if not hold then
    outcomes[index - 1] = 'unknown_hold'
  elseif string.sub(hold.payer, 1, #accountId + 1) ~= accountId .. ':' then
    refuse('the hold belongs to another payer')
  elseif hold.state ~= 'open' then
    outcomes[index - 1] = hold.state
  else
    outcomes[index - 1] = 'renewed'
    hold.cost, hold.record = cost, ARGV[at + 5]
    hold.reached = ARGV[at + 4] == '1' and 1 or hold.reached
    renewals[#renewals + 1] = {
      name = KEYS[index],
      member = memberOf(hold.payer, match(KEYS[index], '([^:]+)$'), decimal(hold.amount)),
      ttlMs = ttlMs,
      hold = hold,
    }
  end
end
local nowMs = currentMs()

-- After this point, the transition must succeed.
for _, renewal in ipairs(renewals) do
  writeHold(renewal.name, renewal.hold)
  call('ZADD', KEYS[1], 'XX', 'GT', decimal(nowMs + renewal.ttlMs), renewal.member)
end
return outcomes
