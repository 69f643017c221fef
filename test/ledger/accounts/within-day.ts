/** `test` for what counts for a day, a week or a month (UTC): what is expected holds only while none of them turns. All turn with a day. */
import { test as testOnce } from 'bun:test'

/** A test whose `work` is done once more where it failed and the day has turned meanwhile: each time with accounts of its own. */
export function test(name: string, work: () => Promise<void>): void {
  testOnce(name, () => withinDay(work))
}

/** Likewise for each row. */
test.each =
  <const Row extends readonly unknown[]>(rows: readonly Row[]) =>
  (name: string, work: (...row: Row) => Promise<void>): void => {
    for (const row of rows) testOnce.each([row])(name, () => withinDay(() => work(...row)))
  }

async function withinDay(work: () => Promise<void>): Promise<void> {
  const day = today()
  try {
    await work()
  } catch (error) {
    if (today() === day) throw error
    await work()
  }
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}
