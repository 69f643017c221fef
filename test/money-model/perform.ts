/** Does one operation to the model and to the gateways, and compares what they answer. */
import { expect } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { FACTS } from '@test/ledger/harness'
import { usageRecord } from '@test/usage/sample-records'
import { archiveUsage, restoreUsage } from '@/console/administration/usage-archive/usage-archive'
import { rebuildAll } from '@/ledger/check/rebuild'
import { deadlinesName, holdMember, shardOf } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { writeUsageBatch } from '@/usage/write-batch'
import type { ModelAccount } from './account'
import { leastOf, ownerOf } from './budgets-model'
import { expire, flush, moneyOf, release, renew, reserve, rewind, settle } from './model'
import type { Operation } from './operations'
import { limitAndGrant, performBudget } from './perform-budgets'
import { performOrder } from './perform-orders'
import { costOf, plan, reload, type Shop } from './sold'
import { accountOf, FREE_PER_HOUR, type Kept, type Play, type World } from './world'

const TTL_MS = 3_600_000
/** A record that comes again is recognized within these seven days (src/usage/insert-records.ts); an older backup isn't restored. */
const MOST_REWOUND_MS = 7 * 86_400_000
/** What a budget leaves that is not to be in the way. */
const AMPLE = 5_000_000_000

type Known = Play['holds'][number]

/** Does it to both, and compares the answers. */
export async function perform(world: World, play: Play, chosen: Operation): Promise<void> {
  switch (chosen.kind) {
    case 'reserve':
      return await performReserve(world, play, chosen)
    case 'renew':
    case 'settle':
    case 'release':
    case 'lapse': {
      const known = play.holds.at(-1 - chosen.which)
      if (known) await performOnHold(world, play, chosen, known)
      return
    }
    case 'expire':
      return await performExpiry(world, play, chosen.client)
    case 'budget':
    case 'grant':
    case 'hand_over':
      return await performBudget(world, play, chosen)
    case 'reload':
      for (const [client, shop] of play.shops.entries())
        if (chosen.at === 'both' || (chosen.at === 'one') === (client === 0)) reload(shop, chosen.offer)
      return
    case 'flush':
      for (const account of play.accounts.values()) flush(account, chosen.isKilled)
      return await world.flush(play, chosen.isKilled)
    case 'save':
      return await world.save(play)
    case 'rewind':
    case 'blackout':
      return await performRewind(world, play, chosen)
    case 'kill':
      return await world.restartProcess(play, chosen.client)
    case 'turn':
      await play.clock.turn(chosen.turn)
      await world.makePartitions(play.clock)
      play.seen.push(`turned_${chosen.turn}`)
      // No deadline is that far away, nor was any that may come back.
      for (const { holds } of [...play.accounts.values(), ...(play.saved?.hot.values() ?? [])])
        for (const hold of holds.values()) hold.isDue = true
      return
    case 'grant_ends':
      return await performGrantEnd(world, play, chosen)
    case 'handed_over_open':
      return await performOpenHandOver(world, play, chosen)
    case 'rebuild':
      await rebuildAll({ ...world.fixture, logger: silentLogger })
      return
    case 'old_charge':
    case 'archive':
    case 'unarchive':
      return await performArchive(world, play, chosen)
    default:
      return await performOrder(world, play, chosen)
  }
}

async function performReserve(
  world: World,
  play: Play,
  chosen: Extract<Operation, { kind: 'reserve' }>,
): Promise<void> {
  const { client } = chosen
  const [payer, by] = [play.payers[chosen.key], play.processes[client]]
  if (!payer || !by) return
  const holdId = randomId('hold')
  const account = accountOf(play, payer.accountId)
  const shop = play.shops[client] as Shop
  const sale = plan(shop, chosen, chosen.isAll ? mostOf(account, payer.keyId) : undefined)
  if (!sale) {
    play.seen.push('not_sold')
    return
  }
  const { amount, inputCost } = sale
  const expected = reserve(account, { keyId: payer.keyId, holdId, amount, inputCost })
  const request = { ...payer, holdId, amount, inputCost, tokens: 1, ttlMs: TTL_MS }
  expect({ ...(await world.ledgerOf(client).reserve(request)) }).toMatchObject({ ...expected })
  play.seen.push(expected.kind)
  if (expected.kind === 'reserved') play.holds.push({ payer, holdId, sale, by })
}

/** The largest request that nothing refuses. */
function mostOf(account: ModelAccount, keyId: string): number {
  const { least, monthLeft } = leastOf(account, keyId)
  const { available } = moneyOf(account)
  return Math.min(available, least?.remaining ?? available, monthLeft ?? available)
}

async function performExpiry(world: World, play: Play, client: number): Promise<void> {
  const expected = [...play.accounts.values()].flatMap((account) => expire(account))
  const expired = await world.ledgerOf(client).expireDue(1_000)
  expect(new Map(expired.map(({ holdId, cost }) => [holdId, Number(cost)]))).toEqual(new Map(expected))
  for (const [, cost] of expected) play.seen.push(cost > 0 ? 'expired_charged' : 'expired_free')
}

async function performOnHold(
  world: World,
  play: Play,
  chosen: Extract<Operation, { kind: 'renew' | 'settle' | 'release' | 'lapse' }>,
  known: Known,
): Promise<void> {
  const { payer, holdId, sale, by } = known
  const { accountId } = payer
  const account = accountOf(play, accountId)
  if (chosen.kind === 'lapse') {
    const hold = account.holds.get(holdId)
    if (hold?.state !== 'open') return
    if (chosen.isRenewed) await performOnHold(world, play, { ...chosen, kind: 'renew' }, known)
    hold.isDue = true
    const member = holdMember({ ...payer, memberId: hold.member, holdId, amount: hold.amount })
    const passedMs = Math.floor(play.clock.now()) - 1_000
    await world.fixture.redis.zadd(deadlinesName(shardOf(accountId)), 'XX', passedMs, member)
    if (chosen.isSwept) await performExpiry(world, play, 0)
    // Its gateway was only stuck, and says what it costs after all.
    const late = { ...chosen, kind: 'settle', share: chosen.lateShare, isHangUp: 'no' } as const
    if (chosen.isSwept && chosen.isLate) await performOnHold(world, play, late, known)
    return
  }
  const client = play.processes.indexOf(by)
  if (client < 0) return
  if (chosen.kind === 'renew') {
    const cost = costOf(sale, chosen.share)
    const renewal = { accountId, holdId, ttlMs: TTL_MS, cost, facts: FACTS, reached: true }
    const expected = renew(account, holdId, cost)
    expect<string[]>(await world.ledgerOf(client).renew([renewal])).toEqual([expected])
    return
  }
  const { kind } = chosen
  known.end ??= kind === 'release' ? kind : { cost: costOf(sale, chosen.share), isHangUp: chosen.isHangUp }
  if (known.end !== 'release') return await performSettlement(play, known, known.end)
  release(account, payer.keyId, holdId)
  by.kept.push({ ...payer, holdId, cost: undefined })
  await by.settler.resolve({ kind: 'release', ...payer, holdId })
}

async function performSettlement(
  play: Play,
  { payer, holdId, by }: Known,
  { cost, isHangUp }: Exclude<NonNullable<Known['end']>, 'release'>,
): Promise<void> {
  const { accountId } = payer
  const account = accountOf(play, accountId)
  const hold = account.holds.get(holdId)
  const freePerHour = FREE_PER_HOUR[isHangUp]
  const charged = freePerHour && hold?.state !== 'expired' ? 0 : cost
  const expected = settle(account, payer.keyId, holdId, charged)
  const settlement = {
    ...payer,
    holdId,
    cost,
    tokens: 1,
    facts: FACTS,
    ...(freePerHour !== undefined && { freePerHour }),
  }
  await by.settler.resolve({ kind: 'settle', settlement })
  expect(await by.settler.drain(60_000)).toBe(0)
  expect<string | undefined>(by.outcomes.get(holdId)?.kind).toBe(expected)
  play.seen.push(hold === undefined && expected === 'settled' ? 'forced' : expected)
  if (expected === 'settled' || expected === 'late') by.kept.push({ ...payer, holdId, cost: charged })
}

/** What was granted for a window is gone in the next. */
async function performGrantEnd(
  world: World,
  play: Play,
  { client, key, scope, window }: Extract<Operation, { kind: 'grant_ends' }>,
): Promise<void> {
  const wish = { kind: 'reserve', client, key, tokens: 30_000, isAll: false, asked: 2, output: 1, answers: 0 } as const
  await limitAndGrant(world, play, { client, key, scope, window })
  await performReserve(world, play, wish)
  await perform(world, play, { kind: 'turn', turn: window })
  await performReserve(world, play, wish)
}

/** A key goes to another member while a request of it is open, under a budget of the member whose it was. */
async function performOpenHandOver(
  world: World,
  play: Play,
  chosen: Extract<Operation, { kind: 'handed_over_open' }>,
): Promise<void> {
  const { client, key, to, window, tokens, share, lateShare, isSwept } = chosen
  const budget = { client, key, scope: 'member', window, spare: AMPLE, isAbove: true } as const
  await performBudget(world, play, { kind: 'budget', ...budget })
  const before = play.holds.length
  await performReserve(world, play, {
    kind: 'reserve',
    client,
    key,
    tokens,
    isAll: false,
    asked: 2,
    output: 1,
    answers: 0,
  })
  await performBudget(world, play, { kind: 'hand_over', client, key, to })
  const known = play.holds.at(-1)
  if (!known || play.holds.length === before) return
  const lapse = { kind: 'lapse', which: 0, share, lateShare, isRenewed: true, isSwept: true, isLate: true } as const
  const settle = { kind: 'settle', which: 0, share, isHangUp: 'no' } as const
  await performOnHold(world, play, isSwept ? lapse : settle, known)
}

/** The store is another: every process sends again what it has, before or after the accounts are compared with the history. */
async function performRewind(
  world: World,
  play: Play,
  chosen: Extract<Operation, { kind: 'rewind' | 'blackout' }>,
): Promise<void> {
  if (!play.saved) return
  const isBlackout = chosen.kind === 'blackout'
  play.seen.push(isBlackout ? 'blacked_out' : 'rewound')
  const isTooOld = play.clock.now() - play.saved.atMs > MOST_REWOUND_MS
  const saved = chosen.isEmpty || isTooOld ? undefined : play.saved
  await world.restore(play, saved)
  for (const [accountId, account] of play.accounts)
    rewind(account, saved?.hot.get(accountId) ?? { holds: new Map(), stream: new Map() })
  // Whoever comes first notices that the store is another; that each account was looked at by then is chance.
  await (chosen.isResentFirst ? world.renewEpochs() : world.confirm(play))
  for (const [client, { settler }] of play.processes.entries()) {
    // The machine lost its power: nobody remembers what its journals don't have.
    if (isBlackout) await world.restartProcess(play, client)
    else settler.storeReturned()
    expect(await settler.drain(60_000)).toBe(0)
    for (const one of play.processes[client]?.kept ?? []) again(play, one)
  }
  if (chosen.isResentFirst) await world.confirm(play)
}

function again(play: Play, { accountId, keyId, holdId, cost }: Kept): void {
  const account = accountOf(play, accountId)
  if (cost === undefined) release(account, keyId, holdId)
  else settle(account, keyId, holdId, cost)
}

async function performArchive(
  { archive, owner, fixture }: World,
  play: Play,
  chosen: Extract<Operation, { kind: 'old_charge' | 'archive' | 'unarchive' }>,
): Promise<void> {
  if (chosen.kind === 'archive') {
    if (chosen.before <= play.archivedBefore) return
    await archiveUsage(archive, chosen.before)
    play.seen.push('archived')
    play.archivedBefore = chosen.before
  } else if (chosen.kind === 'unarchive') {
    if (play.archivedBefore !== '') await restoreUsage(archive, '2025-09')
    play.archivedBefore = ''
  } else {
    const { month, who, tokens } = chosen
    const payer = play.payers[who]
    if (!payer || month < play.archivedBefore) return
    const { accountId, keyId } = payer
    const account = accountOf(play, accountId)
    const member = ownerOf(account, keyId)
    const atMs = Date.parse(`${month}-10T12:00:00Z`)
    const record = usageRecord({ accountId, keyId, memberId: member || undefined, cost: tokens, atMs })
    const charge = { cost: tokens, kind: 'settle', keyId, member, atMs } as const
    account.books.set(record.recordId, charge)
    await owner.sql`SELECT ensure_usage_partitions(${`${month}-01`}::text::date, 1)`
    await writeUsageBatch(fixture.database.sql, [record])
    await rebuildAll({ ...fixture, logger: silentLogger })
  }
}
