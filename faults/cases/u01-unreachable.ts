/** The provider cannot be reached, or is not who it should be. */
import type { Fault } from '@faults/fault'

const MODELS = {
  refused: 'the connection is refused',
  nowhere: 'its name is unknown',
  blackhole: 'nothing comes back from its address',
  untrusted: 'its certificate is self-signed',
}
const LIMIT_MS = 3_000
const REPEATS = 4

export const u1: Fault = {
  id: 'U1',
  world: 'single',
  isQuick: true,
  title: `the provider is unreachable: ${Object.values(MODELS).join('; ')}`,
  promise:
    'A quick 502, 503 or 504 in the format of the caller, free of charge; an untrusted certificate is never accepted.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    for (const [model, what] of Object.entries(MODELS)) {
      for (let repeat = 0; repeat < REPEATS; repeat++) {
        const customer = await stage.customer()
        const seen = await stage.send({ customer, model, stream: repeat % 2 === 0 })
        stage.expect([502, 503, 504, 529].includes(seen.status), `${what}: ${seen.ending} ${seen.status}`)
        stage.expect(seen.durationMs < LIMIT_MS, `${what}: ${Math.round(seen.durationMs)} ms`)
        const balance = await stage.world.bank.ledger.readBalance(customer.accountId)
        stage.expect(balance?.spent === 0, `${what}: charged ${balance?.spent}`)
      }
    }
    await stage.lift(() => undefined)
  },
}
