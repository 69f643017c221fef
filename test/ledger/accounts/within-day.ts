/** `test` for what counts for a day, a week or a month (UTC): what is expected holds only while none of them turns. All turn with a day. */
import { test as testOnce } from 'bun:test'

/** A test whose `work` is done once more where it failed and the day has turned meanwhile: each time with accounts of its own. */
export const test = testPreparedBy(async () => undefined)

/** Likewise where `beforeEach` has made the accounts: `prepare` makes others before the second time. */
export function testPreparedBy(prepare: () => Promise<void>) {
  async function withinDay(work: () => Promise<void>): Promise<void> {
    const day = today()
    try {
      await work()
    } catch (error) {
      if (today() === day) throw error
      await prepare()
      await work()
    }
  }
  const once = (name: string, work: () => Promise<void>): void => testOnce(name, () => withinDay(work))
  const each =
    <const Row>(rows: readonly Row[]) =>
    (name: string, work: (...row: Columns<Row>) => Promise<void>): void => {
      for (const row of rows) {
        const columns = (Array.isArray(row) ? row : [row]) as unknown as Columns<Row>
        testOnce.each<unknown>([row])(name, () => withinDay(() => work(...columns)))
      }
    }
  return Object.assign(once, { each })
}

type Columns<Row> = Row extends readonly unknown[] ? Row : [Row]

function today(): string {
  return new Date().toISOString().slice(0, 10)
}
