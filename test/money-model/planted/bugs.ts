/** Bugs that the money model has to find, each a change of one place of the source: by kind, what no sequence found before. */

/** `path` is in src/; `from` stands there once. */
type PlantedBug = { name: string; path: string; from: string; to: string }

const BUDGETS = 'ledger/scripts/preludes/budgets.lua'
const SETTLE = 'ledger/scripts/settle.lua'

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'a window goes on with what was spent in the one before',
    path: BUDGETS,
    from: 'return entry[first] >= windows[window] and entry[first + 1] or 0',
    to: 'return entry[first + 1]',
  },
  {
    name: 'a month goes on with what was spent in the one before',
    path: SETTLE,
    from: 'key.spentMonth = spentIn(month, key.month, key.spentMonth) + charge',
    to: 'key.spentMonth = key.spentMonth + charge',
  },
  {
    name: 'a week begins on Sunday where a charge is counted',
    path: SETTLE,
    from: 'chargeBudgets(budgets, charge, windowsAt(nowMs))',
    to: 'chargeBudgets(budgets, charge, windowsAt(nowMs + MS_PER_DAY))',
  },
  {
    name: 'a grant outlives its window',
    path: BUDGETS,
    from: 'limit = limit + (entry[first + 3] == at and entry[first + 4] or 0)',
    to: 'limit = limit + entry[first + 4]',
  },
  {
    name: 'an open hold follows its key to another member',
    path: SETTLE,
    from: 'local payer = hold and hold.payer or payerOf(ARGV[1], key and key.owner)',
    to: 'local payer = payerOf(ARGV[1], key and key.owner)',
  },
  {
    name: 'a late settlement is counted for the member who has the key by then',
    path: SETTLE,
    from: 'local payer = hold and hold.payer or payerOf(ARGV[1], key and key.owner)',
    to: 'local payer = hold and not isLate and hold.payer or payerOf(ARGV[1], key and key.owner)',
  },
  {
    name: 'a late settlement gives nothing back',
    path: SETTLE,
    from: 'local charge = isLate and cost - hold.cost or cost',
    to: 'local charge = isLate and math.max(0, cost - hold.cost) or cost',
  },
  {
    name: 'a renewal never lowers what was recorded',
    path: 'ledger/scripts/renew.lua',
    from: 'hold.cost, hold.record = cost, ARGV[at + 5]',
    to: 'hold.cost, hold.record = math.max(hold.cost, cost), ARGV[at + 5]',
  },
  {
    name: 'a settlement is not in the journal before it is sent',
    path: 'gateway/hold/settler.ts',
    from: "resolution.kind === 'settle' ? journal.add(resolution.settlement) : undefined",
    to: 'undefined',
  },
]
