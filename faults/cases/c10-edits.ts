/** Keys, limits and profiles are edited without pause while their accounts pay. */
import type { Fault, Stage } from '@faults/fault'
import type { Customer } from '@faults/world/bank'
import type { SingleWorld } from '@faults/world/world'

const CUSTOMERS = 8
const DURATION_MS = 3_000

export const c10: Fault = {
  id: 'C10',
  world: 'single',
  title: 'keys, limits and profiles are edited without pause while their accounts pay',
  promise: 'No edit touches money: every charge is in the balance afterwards.',
  async run(stage) {
    const customers = await Promise.all(Array.from({ length: CUSTOMERS }, () => stage.customer()))
    const until = performance.now() + (stage.isQuick ? DURATION_MS / 3 : DURATION_MS)
    let edits = 0
    // What is edited is in the ledger.
    for (const customer of customers) await stage.send({ customer, words: 1 })
    await stage.inject(() => undefined)
    const editing = customers.map(async (customer) => {
      while (performance.now() < until) {
        await edit(stage, customer)
        edits++
      }
    })
    const paying = customers.map(async (customer, index) => {
      while (performance.now() < until) {
        const { ending, status } = await stage.send({ customer, stream: true, words: 8, pauseMs: 3 }, index % 2)
        stage.expect(ending === 'complete', `a request ended ${ending} ${status}`)
      }
    })
    await Promise.all([...editing, ...paying])
    stage.note(`C10: ${edits} edits`)
    await stage.lift(() => undefined)
  },
}

async function edit({ world, random }: Stage<SingleWorld>, { accountId, keyId }: Customer): Promise<void> {
  const { ledger, database } = world.bank
  const limits = { requestsPerMinute: random.integer(100_000, 900_000), tokensPerMinute: null, concurrency: 1_000 }
  await ledger.setKeyState({
    accountId,
    keyId,
    status: 'active',
    ...limits,
    monthlyBudget: null,
    expiresAtMs: null,
    allowedModels: null,
    allowedProviders: null,
  })
  await database.sql`UPDATE accounts SET name = ${`Customer ${random.integer(0, 1_000_000)}`} WHERE id = ${accountId}`
  await ledger.setAccountState({
    accountId,
    status: 'active',
    requestsPerMinute: null,
    tokensPerMinute: null,
    concurrency: null,
  })
}
