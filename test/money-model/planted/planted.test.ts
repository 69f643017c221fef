/** The money model finds bugs planted into a process: for each bug some sequence fails. TEST_SEED selects the sequences. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { OUR_ENVIRONMENT } from '@test/support/bare-environment'
import { SEED } from '@test/support/seed'
import { PLANTED_BUGS } from './bugs'

setDefaultTimeout(36_000_000)

const SEQUENCES = 300
/** Chance may pass one by. */
const LEAST_FOUND = PLANTED_BUGS.length - 1
const LANES = 3

type Hunt = { name: string; isFound: boolean; output: string }

test(`the money model finds ${LEAST_FOUND} of ${PLANTED_BUGS.length} planted bugs within ${SEQUENCES} sequences`, async () => {
  const left = [...PLANTED_BUGS]
  const hunts: Hunt[] = []
  const lane = async () => {
    for (let bug = left.shift(); bug; bug = left.shift()) hunts.push(await hunt(bug.name))
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const missed = hunts.filter(({ isFound }) => !isFound)
  expect(missed.filter(({ output }) => !output.includes(' 1 pass'))).toEqual([])
  expect({ missed: missed.map(({ name }) => name).slice(PLANTED_BUGS.length - LEAST_FOUND) }).toEqual({ missed: [] })
})

/** Plays sequences in a process of its own, which has the bug. */
async function hunt(name: string): Promise<Hunt> {
  const command = [
    process.execPath,
    'test',
    '--preload',
    './test/money-model/planted/plant.ts',
    './test/money-model/planted/hunt.ts',
  ]
  const child = Bun.spawn(command, {
    cwd: join(import.meta.dir, '..', '..', '..'),
    env: { ...OUR_ENVIRONMENT, PLANTED_BUG: name, SEQUENCES: String(SEQUENCES), TEST_SEED: String(SEED) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const output = out + err
  return { name, output, isFound: output.includes('Property failed after') }
}
