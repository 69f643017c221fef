/** `test` for what counts for a day, a week or a month (UTC): what is expected holds only while none of them turns. All turn with a day. */
import { test as testOnce } from 'bun:test'

type Done = void | Promise<void>

type Each = {
  <Row extends readonly [unknown, ...unknown[]]>(
    rows: readonly Row[],
  ): (name: string, work: (...row: [...Row]) => Done) => void
  <Value>(values: readonly Value[]): (name: string, work: (value: Value) => Done) => void
}

/** A test whose `work` is done once more where it failed and the day has turned meanwhile: each time with accounts of its own. */
export const test = testPreparedBy(async () => undefined)

/** Likewise where `beforeEach` has made the accounts: `prepare` makes others before the second time. */
export function testPreparedBy(prepare: () => Promise<void>) {
  const play = (work: () => Done) => withinDay(work, prepare)
  const once = (name: string, work: () => Done): void => testOnce(name, () => play(work))
  const each = (rows: readonly unknown[]) => (name: string, work: (...row: unknown[]) => Done) => {
    for (const row of rows) {
      const columns: unknown[] = Array.isArray(row) ? row : [row]
      testOnce.each([row])(name, () => play(() => work(...columns)))
    }
  }
  return Object.assign(once, { each: each as Each })
}

/** Does `work`, and once more after `prepare` where it failed and the day has turned meanwhile. */
export async function withinDay<T>(work: () => T | Promise<T>, prepare?: () => Promise<void>): Promise<T> {
  const day = today()
  try {
    return await work()
  } catch (error) {
    if (today() === day) throw error
    await prepare?.()
    return await work()
  }
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}
