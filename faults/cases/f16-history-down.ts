/** Postgres is gone, hangs, or takes no more connections, while the gateways go on serving. */

import { type Fault, type Stage, seenDuring } from '@faults/fault'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'
import postgres, { type Sql } from 'postgres'

const AWAY_MS = 8_000
const CROWDING_TURNS = 12
/** More than the suite's Postgres takes. */
const MANY_CONNECTIONS = 80

/** F16 in one of its ways. */
function historyAway(
  id: string,
  title: string,
  take: (world: SingleWorld) => Promise<unknown>,
  giveBack: (world: SingleWorld) => Promise<unknown>,
): Fault {
  return {
    id,
    world: 'single',
    isQuick: id === 'F16',
    title: `Postgres ${title} for ${AWAY_MS / 1000} s`,
    promise:
      'Inference is unaffected; readiness is degraded by name; charges wait in their streams and are booked once.',
    async run(stage) {
      const { world } = stage
      await stage.traffic(12)
      await stage.inject(() => take(world))
      await Bun.sleep(stage.isQuick ? AWAY_MS / 3 : AWAY_MS)
      const waiting = await world.bank.ledger.unsyncedRecordCount()
      stage.note(`${id}: ${waiting} charges waited in their streams`)
      stage.expect(waiting > 0, 'no charge had to wait: the fault did not happen')
      await expectDegraded(stage)
      const bad = seenDuring(stage).filter(({ ending }) => ending !== 'complete')
      stage.expect(bad.length === 0, `${bad.length} requests ended ${bad[0]?.ending} (${bad[0]?.status})`)
      await stage.lift(async () => {
        await giveBack(world)
        const isBack = () =>
          world.bank.database.sql`SELECT 1`.then(
            () => true,
            () => false,
          )
        await until(isBack, 'Postgres to answer', 20_000)
      })
    },
  }
}

async function expectDegraded(stage: Stage<SingleWorld>): Promise<void> {
  for (const { url } of stage.world.gateways) {
    const response = await fetch(`${url}/readyz`)
    const body = (await response.json()) as { status: string; reasons?: Record<string, string> }
    const isNamed = response.status === 200 && body.status === 'degraded' && body.reasons?.postgres !== undefined
    stage.expect(isNamed, `readiness said ${response.status} ${JSON.stringify(body)}`)
  }
}

export const f16 = historyAway(
  'F16',
  'is killed and stays away',
  ({ postgres }) => postgres.kill(),
  ({ postgres }) => postgres.start(),
)
const crowd: Sql[] = []

export const f16Crowded = historyAway(
  'F16c',
  'has no connection left (max_connections used up) and resets those of the gateways,',
  async ({ postgres: { url }, postgresProxy }) => {
    // Each turn frees what the gateways had, and takes it before they come back.
    for (let turn = 0; turn < CROWDING_TURNS; turn++) {
      postgresProxy.resetAll()
      await takeConnections(url)
    }
  },
  () => Promise.all(crowd.splice(0).map((client) => client.end({ timeout: 0 }))),
)
export const f16Hung = historyAway(
  'F16h',
  'hangs (SIGSTOP)',
  ({ postgres }) => postgres.signal('SIGSTOP'),
  ({ postgres }) => postgres.signal('SIGCONT'),
)

/** Opens connections until there are none left to have. */
async function takeConnections(url: string): Promise<void> {
  const attempts = Array.from({ length: MANY_CONNECTIONS }, async () => {
    const client = postgres(url, { max: 1, onnotice: () => undefined, fetch_types: false })
    try {
      await client`SELECT 1`
      crowd.push(client)
    } catch {
      await client.end({ timeout: 0 })
    }
  })
  await Promise.all(attempts)
}
