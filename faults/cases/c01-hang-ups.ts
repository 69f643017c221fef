/** Clients go away at every moment of an answer, in every way, and at the moment that should pay them best. */

import type { Fault, Stage } from '@faults/fault'
import { INPUT_NANO, OUTPUT_NANO } from '@faults/world/catalog-file'
import { newMarker } from '@faults/world/client'
import type { Exchange } from '@faults/world/exchange'
import { openRawClient, type RawClient } from '@faults/world/raw-client'
import { chunkEvent, EVENT_STREAM, usageEvent, writeWords } from '@faults/world/scripts'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'

const WAYS = ['close', 'reset', 'half-close'] as const
const WORDS = 12
const EXPLOITS = 1_000
/** What the attackers of the reference may have for nothing. */
const FREE_SHARE = 0.01

/** The provider writes up to the moment, and goes on only when the client has left. */
type Moment = {
  what: string
  play(exchange: Exchange, left: Promise<void>): Promise<void>
  hasCome(client: RawClient): boolean
  /** The provider had not sent a byte: nothing is owed, whatever it may ask. */
  isFree?: true
}

const isAnswering = (client: RawClient) => client.received().includes('data:')
const hasWords = (count: number) => (client: RawClient) => client.received().includes(`.${count - 1} `)

const MOMENTS: readonly Moment[] = [
  {
    what: 'before the headers',
    play: (exchange) => exchange.answer.gone,
    hasCome: () => true,
    isFree: true,
  },
  {
    what: 'after the first word',
    async play(exchange, left) {
      exchange.answer.head(200, EVENT_STREAM)
      await writeWords(exchange, { words: 1, pauseMs: 0 })
      await left
      await exchange.answer.gone
    },
    hasCome: isAnswering,
  },
  {
    what: 'just before the usage',
    async play(exchange, left) {
      exchange.answer.head(200, EVENT_STREAM)
      await writeWords(exchange, { words: WORDS, pauseMs: 0 })
      await left
      await exchange.answer.gone
    },
    hasCome: hasWords(WORDS),
  },
  {
    what: 'after the usage, before the end',
    async play(exchange, left) {
      exchange.answer.head(200, EVENT_STREAM)
      await writeWords(exchange, { words: WORDS, pauseMs: 0 })
      await exchange.answer.write(chunkEvent({}, 'stop') + usageEvent(WORDS))
      await left
      await exchange.answer.gone
    },
    hasCome: (client) => client.received().includes('"finish_reason":"stop"'),
  },
]

export const c1: Fault = {
  id: 'C1',
  world: 'single',
  isQuick: true,
  title: `clients leave ${MOMENTS.map(({ what }) => what).join(', ')}: by FIN, by RST, by closing their half; ${EXPLOITS} at the best moment`,
  promise:
    'The provider is stopped at once; the input and everything that was relayed is charged, never the whole hold, and nothing only where the provider had not sent a byte.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    for (const moment of MOMENTS) for (const way of WAYS) await hangUp(stage, moment, way)
    await drain(stage)
    await exploit(stage, stage.isQuick ? EXPLOITS / 20 : EXPLOITS)
    await stage.lift(() => undefined)
  },
}

async function hangUp(
  stage: Stage<SingleWorld>,
  { what, play, hasCome, isFree }: Moment,
  way: (typeof WAYS)[number],
): Promise<void> {
  const { upstream, gateways, bank } = stage.world
  const customer = await stage.customer()
  const marker = newMarker()
  const left = Promise.withResolvers<void>()
  let wasStopped = false
  upstream.script(marker, async (exchange) => {
    await play(exchange, left.promise)
    wasStopped = true
  })
  const client = await openRawClient(gateways[0]?.url ?? '', { customer, marker, stream: true, words: WORDS })
  await until(() => upstream.calls.some((call) => call.marker === marker) && hasCome(client), `${what}`)
  client.leave(way)
  stage.see(client.sighting())
  left.resolve()
  await until(() => wasStopped, 'the provider to be stopped').catch(() =>
    stage.expect(false, `${what}, ${way}: the provider was not stopped`),
  )
  if (isFree) {
    const balance = async () => bank.ledger.readBalance(customer.accountId)
    const isFreed = async () => ((await balance())?.held ?? 0) === 0
    await until(isFreed, `${what}, ${way}: the hold to end`)
    return stage.expect((await balance())?.spent === 0, `${what}, ${way}: charged although nothing was sent`)
  }
  const spent = async () => (await bank.ledger.readBalance(customer.accountId))?.spent ?? 0
  const charged = await until(spent, `${what}, ${way}: a charge`).catch(() => 0)
  const billed = upstream.bill.requests(0).get(marker)
  const least = (billed?.input ?? 0) * INPUT_NANO + (billed?.output ?? 0) * OUTPUT_NANO
  stage.expect(charged >= least && charged > 0, `${what}, ${way}: charged ${charged}, billed ${least}`)
}

/** A provider whose policy is to be read to the end: the exact usage is charged. */
async function drain(stage: Stage<SingleWorld>): Promise<void> {
  const customer = await stage.customer()
  const { ending, marker } = await stage.send({
    customer,
    model: 'drain',
    stream: true,
    words: 30,
    pauseMs: 10,
    hangUpAfterWords: 3,
  })
  stage.expect(ending === 'hung-up', `a client that left after three words saw ${ending}`)
  const isWhole = () => stage.world.upstream.bill.requests(0).get(marker)?.output === 30
  await until(isWhole, 'the answer to be read to its end')
}

/** As often as it takes to be worth it: leaving after the last word, before anything is settled. */
async function exploit(stage: Stage<SingleWorld>, times: number): Promise<void> {
  const customer = await stage.customer()
  const startedAtMs = Date.now()
  const attack = async (index: number) => {
    const marker = newMarker()
    const wish = { customer, marker, stream: true, words: WORDS, pauseMs: 1 }
    const client = await openRawClient(stage.world.gateways[index % 2]?.url ?? '', wish)
    await until(() => hasWords(WORDS)(client), 'the last word')
    client.leave('reset')
    stage.see(client.sighting())
    return marker
  }
  const markers = new Set<string>()
  for (let index = 0; index < times; index += 20) {
    const attacks = Array.from({ length: Math.min(20, times - index) }, (_, offset) => attack(index + offset))
    for (const marker of await Promise.all(attacks)) markers.add(marker)
  }
  const { ledger } = stage.world.bank
  await until(async () => (await ledger.readBalance(customer.accountId))?.held === 0, 'the holds to be resolved')
  const bills = [...stage.world.upstream.bill.requests(startedAtMs).values()].filter(({ marker }) =>
    markers.has(marker),
  )
  const billed = bills.reduce((sum, { input, output }) => sum + input * INPUT_NANO + output * OUTPUT_NANO, 0)
  const charged = (await ledger.readBalance(customer.accountId))?.spent ?? 0
  const free = Math.max(0, billed - charged) / billed
  stage.note(
    `C1: ${times} attackers were billed ${billed} nano-USD and charged ${charged}: ${(free * 100).toFixed(2)} % free`,
  )
  stage.expect(free < FREE_SHARE, `${(free * 100).toFixed(2)} % of what attackers used was free`)
}
