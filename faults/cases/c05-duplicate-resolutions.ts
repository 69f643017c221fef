/** One hold is settled, released and expired by everybody at once. */
import type { Fault, Stage } from '@faults/fault'
import type { SingleWorld } from '@faults/world/world'
import type { RequestFacts } from '@/ledger/usage-record'
import { nano } from '@/lib/money'

const CALLERS = 50
const ROUNDS = 20
const AMOUNT = 100_000
const COST = 40_000

export const c5: Fault = {
  id: 'C5',
  world: 'single',
  isQuick: true,
  title: `one hold is settled, released and expired ${CALLERS} times at once, ${ROUNDS} times over`,
  promise: 'One of them has an effect; all others are told what it was.',
  async run(stage) {
    await stage.inject(() => undefined)
    // No provider has a part in this.
    const waived = new Set<string>()
    stage.tolerance.waived = waived
    for (let round = 0; round < (stage.isQuick ? ROUNDS / 4 : ROUNDS); round++) waived.add(await resolveAll(stage))
    await stage.lift(() => undefined)
  },
}

/** Returns the hold's id. */
async function resolveAll(stage: Stage<SingleWorld>): Promise<string> {
  const { ledger, paidIn } = stage.world.bank
  const { accountId, keyId } = await stage.customer()
  const payer = { accountId, keyId }
  const holdId = `hold_${crypto.randomUUID().replaceAll('-', '')}`
  const facts = factsOf(holdId)
  const amount = nano(AMOUNT)
  const reserved = await ledger.reserve({ ...payer, holdId, amount, inputCost: nano(0), tokens: 1, ttlMs: 1 })
  stage.expect(reserved.kind === 'reserved', `the reserve said ${reserved.kind}`)
  await ledger.renew([{ accountId, holdId, ttlMs: 1, cost: nano(COST), facts, reached: true }])
  const settlement = { ...payer, holdId, cost: nano(COST), tokens: 1, facts }
  const calls = Array.from({ length: CALLERS }, async (_, index) => {
    if (index % 3 === 0) return (await ledger.settle(settlement)).kind
    if (index % 3 === 1) return ledger.release({ ...payer, holdId })
    return (await ledger.expireDue(10)).some((expired) => expired.holdId === holdId) ? 'expired' : 'left alone'
  })
  const outcomes = await Promise.all(calls)
  const effects = outcomes.filter((outcome) => ['settled', 'released', 'expired'].includes(outcome))
  stage.expect(effects.length === 1, `${effects.length} callers had an effect: ${effects.join(', ')}`)
  const balance = await ledger.readBalance(accountId)
  const charged = effects[0] === 'released' ? 0 : COST
  stage.expect(
    balance?.spent === charged && balance.held === 0,
    `${effects[0]}: spent ${balance?.spent}, held ${balance?.held}`,
  )
  stage.expect(
    balance?.available === (paidIn.get(accountId) ?? 0) - charged,
    `${effects[0]}: ${balance?.available} available`,
  )
  return holdId
}

function factsOf(requestId: string): RequestFacts {
  const usage = { uncached: 10, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 15, reasoning: 0 }
  return {
    ...{ requestId, model: 'svc/steady', requestedModel: 'svc/steady', provider: 'steady', upstreamModel: 'scripted' },
    ...{ clientFormat: 'chat-completions', providerFormat: 'chat-completions', usage, rule: 'usage', flags: [] },
    ...{ stream: false, status: 200, attempts: 1, startedAtMs: Date.now(), firstTokenMs: null, durationMs: 1 },
  }
}
