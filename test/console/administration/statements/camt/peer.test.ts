/** Random statements are valid by the official schemas, and a reader in another language finds the same booked credits. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { preparePython } from '@test/clients/python/environment'
import { fc } from '@test/support/property'
import { SEED } from '@test/support/seed'
import { readStatement } from '@/console/administration/statements/read-statement'
import { assert } from '@/lib/assert'
import { type CamtEntry, camt } from './build'
import { randomFile } from './random-statement'

type Judged = {
  faults: string[]
  entries: { amount: string; currency: string; isCredit: boolean; status: string; isReversal: boolean }[]
}

const FILES = 60
const python = await preparePython('readers', (line) => process.stderr.write(`${line}\n`))

test.skipIf(!python)(
  'CAMT.053: the official schemas accept each file that our reader accepts, and its sums equal those of camt053',
  async () => {
    const files = fc
      .sample(randomFile, { numRuns: FILES, seed: SEED })
      .map(({ version, statements }) =>
        camt(version, ...statements.map((entries) => entries.map(({ entry }) => withoutReturns(entry)))),
      )
    const running = Bun.spawn([python ?? '', join(import.meta.dir, 'peer.py')], {
      stdin: new Blob([files.map((file) => `${JSON.stringify(file)}\n`).join('')]),
      stderr: 'inherit',
    })
    const answers = (await new Response(running.stdout).text()).trim().split('\n')
    expect(answers).toHaveLength(FILES)
    for (const [index, answer] of answers.entries()) {
      const { faults, entries }: Judged = JSON.parse(answer)
      expect(faults).toEqual([])
      const read = await readStatement(files[index] ?? '', { dateOrder: 'detect', currency: undefined })
      assert(read.kind === 'read', JSON.stringify(read))
      const theirs = entries.filter((entry) => entry.isCredit && entry.status === 'BOOK' && !entry.isReversal)
      const ours = read.lines.filter(
        (line) => line.amountCents > 0 && (line.exclusion ?? 'unclear_batch') === 'unclear_batch',
      )
      for (const currency of ['USD', 'EUR', 'JPY']) {
        const sum = theirs
          .filter((entry) => entry.currency === currency)
          .reduce((total, { amount }) => total + Math.round(Number(amount) * 100), 0)
        const own = ours.filter((line) => line.currency === currency)
        expect(own.reduce((total, { amountCents }) => total + amountCents, 0)).toBe(sum)
      }
    }
  },
)

/** The peer sums entries, and returns are marked below them. */
function withoutReturns(entry: CamtEntry): CamtEntry {
  return { ...entry, payments: entry.payments?.map((payment) => ({ ...payment, isReturn: false })) ?? [] }
}
