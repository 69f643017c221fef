/** Clients that take nothing off their sockets, while the provider writes as fast as it can. */

import type { Fault, Stage } from '@faults/fault'
import { BRISK } from '@faults/world/catalog-file'
import { newMarker } from '@faults/world/client'
import type { Exchange } from '@faults/world/exchange'
import { openRawClient } from '@faults/world/raw-client'
import { BILLED_INPUT_TOKENS, chunkEvent, EVENT_STREAM, wordOf } from '@faults/world/scripts'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'

const CLIENTS = 100
/** Far more than any buffer on the way holds: 64 MB for each client. */
const EVENTS = 4_000
const PADDING = 'x'.repeat(16 * 1024)
/** The kernels' buffers on the way count for the gateway as well. */
const MEMORY_PER_CLIENT = 4 * 1024 * 1024
const SETTLE_MS = 2_000
const CUT_SLACK_MS = 1_500

export const c2: Fault = {
  id: 'C2',
  world: 'single',
  title: `${CLIENTS} clients read nothing while the provider writes ${EVENTS * 16} KB to each as fast as it can`,
  promise:
    'The provider is held back; memory stays flat; whoever leaves is charged for what was relayed, and who never does is cut when the provider has had its time.',
  async run(stage) {
    const { gateways, upstream } = stage.world
    const [first] = gateways
    if (!first) return
    await stage.traffic(4)
    const before = (await first.footprint()).residentBytes
    const clients = stage.isQuick ? CLIENTS / 4 : CLIENTS
    let written = 0
    const everyoneIsHere = Promise.withResolvers<void>()
    const flood = async ({ call, answer, bill }: Exchange) => {
      answer.head(200, EVENT_STREAM)
      bill('input', BILLED_INPUT_TOKENS)
      await answer.write(chunkEvent({ content: wordOf(call.marker, 0) }))
      await everyoneIsHere.promise
      for (let index = 0; index < EVENTS && !answer.isGone(); index++) {
        await answer.write(`: ${PADDING}\n\n`)
        written += PADDING.length
      }
      await answer.gone
    }
    await stage.inject(() => undefined)
    const open = await Promise.all(
      Array.from({ length: clients }, async () => {
        const marker = newMarker()
        upstream.script(marker, flood)
        const client = await openRawClient(first.url, { customer: await stage.customer(), marker, stream: true })
        client.read(false)
        return client
      }),
    )
    await until(() => upstream.openAnswers() >= clients, 'everyone to be here', 30_000)
    everyoneIsHere.resolve()
    await untilStill(() => written)
    const grown = (await first.footprint()).residentBytes - before
    const mebibytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)
    stage.note(
      `C2: ${mebibytes(grown / clients)} MiB of memory and ${mebibytes(written / clients)} MiB written per client`,
    )
    stage.expect(grown < clients * MEMORY_PER_CLIENT, `memory grew by ${mebibytes(grown)} MiB`)
    stage.expect(written < clients * EVENTS * PADDING.length, 'the provider was never held back')
    for (const client of open) {
      client.leave('reset')
      stage.see(client.sighting())
    }
    await outstay(stage)
    await stage.lift(() => undefined)
  },
}

/** A client that neither reads nor leaves: its call and its hold end all the same. */
async function outstay(stage: Stage<SingleWorld>): Promise<void> {
  const { gateways, upstream, bank } = stage.world
  const customer = await stage.customer()
  const marker = newMarker()
  const over = Promise.withResolvers<void>()
  upstream.script(marker, async ({ call, answer, bill }) => {
    answer.head(200, EVENT_STREAM)
    bill('input', BILLED_INPUT_TOKENS)
    bill('output', 1)
    await answer.write(chunkEvent({ content: wordOf(call.marker, 0) }))
    while (!answer.isGone()) await answer.write(`: ${PADDING}\n\n`)
    over.resolve()
  })
  const startedAt = performance.now()
  const client = await openRawClient(gateways[0]?.url ?? '', { customer, marker, model: 'brisk', stream: true })
  client.read(false)
  await over.promise
  const elapsedMs = performance.now() - startedAt
  stage.expect(elapsedMs < BRISK.totalMs + CUT_SLACK_MS, `the provider was left after ${Math.round(elapsedMs)} ms`)
  const isCharged = async () => {
    const balance = await bank.ledger.readBalance(customer.accountId)
    return balance !== undefined && balance.held === 0 && balance.spent > 0
  }
  await until(isCharged, 'the charge of a client that stays').catch(() =>
    stage.expect(false, 'who stays is never charged'),
  )
  client.leave('reset')
  stage.see(client.sighting())
}

/** Waits until a number that only grows has stood still for a moment. */
async function untilStill(read: () => number): Promise<void> {
  let last = -1
  let since = performance.now()
  await until(
    () => {
      if (read() !== last) {
        last = read()
        since = performance.now()
      }
      return performance.now() - since > SETTLE_MS
    },
    'the provider to be held back',
    30_000,
  )
}
