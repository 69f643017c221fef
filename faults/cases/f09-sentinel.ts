/** Sentinels promote a replica that lacks the last writes. */
import { type Fault, seenDuring } from '@faults/fault'
import { until } from '@test/support/until'
import { expectUnavailable } from './expect'

const CLIENTS = 12
const TAIL_MS = 2_000
/** `down-after-milliseconds`, and an election, whose votes may be split: the next one is after twice `failover-timeout`. */
const TAKEOVER_MS = 30_000
/** Sentinels tell a server that is back whom to follow only once it was up for eight seconds. */
const RETURN_MS = 60_000

export const f9Sentinel: Fault = {
  id: 'F9s',
  world: 'watched',
  title: `the link to the replica is cut for ${TAIL_MS / 1000} s, then the primary is killed, three Sentinels promote the replica, and the old primary comes back behind it`,
  promise:
    'Refusals until the Sentinels have agreed; then accounts are compared with Postgres before they pay. No charge of the lost tail is lost, and the return of the old primary is not noticed.',
  async run(stage) {
    const { watched } = stage.world
    stage.tolerance.storeLost = true
    stage.tolerance.recoveryMs = TAKEOVER_MS
    await stage.traffic(CLIENTS)
    await watched.cutLink()
    await Bun.sleep(TAIL_MS)
    await stage.inject(() => watched.primary.server.kill())
    await stage.lift(() => undefined)
    const refused = seenDuring(stage).filter(({ ending }) => ending === 'refused')
    stage.expect(refused.length > 0, 'nobody was refused')
    expectUnavailable(stage, refused)
    await watched.primary.restart()
    const isBehind = async () => (await watched.primary.admin.info('replication')).includes('role:slave')
    await until(() => isBehind().catch(() => false), 'the old primary to follow', RETURN_MS)
  },
}
