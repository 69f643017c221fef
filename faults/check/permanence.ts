/** I7: what was once booked stays as it was booked, and the database itself refuses to have it otherwise. */
import type { World } from '@faults/world/world'
import type { Breach } from './evidence'

interface Permanence {
  /** Compares the history with what it said at the last look. */
  check(): Promise<Breach[]>
}

/** Creates the check of one world's history. */
export function createPermanence(world: World): Permanence {
  const { sql } = world.bank.database
  let known = new Map<string, number>()

  async function read(): Promise<Map<string, number>> {
    const rows = await sql<{ id: string; amount: number }[]>`
      SELECT 'charge ' || event_id AS id, cost_nano::bigint AS amount FROM usage_records
      UNION ALL SELECT 'entry ' || id, amount_nano::bigint FROM ledger_entries`
    return new Map(rows.map(({ id, amount }) => [id, amount]))
  }

  async function isProtected(): Promise<boolean> {
    try {
      await sql.begin(async (transaction) => {
        await transaction`UPDATE ledger_entries SET amount_nano = amount_nano + 1`
        throw new Undone()
      })
      return true
    } catch (error) {
      return !(error instanceof Undone)
    }
  }

  return {
    async check() {
      const now = await read()
      const breaches: Breach[] = []
      for (const [id, amount] of known) {
        if (now.get(id) !== amount) breaches.push({ invariant: 'I7', detail: `${id} was ${amount}, is ${now.get(id)}` })
      }
      known = now
      if (!(await isProtected()))
        breaches.push({ invariant: 'I7', detail: 'the database lets ledger entries be changed' })
      return breaches
    },
  }
}

class Undone extends Error {}
