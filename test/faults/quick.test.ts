/**
 * Small versions of the faults of `bun run faults` that test the money promises, in every run of the judges. Times
 * are judged only by `bun run faults`. A failure names the seed; `bun run faults --only <id> --seed <seed>` repeats
 * it.
 */
import { beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FAULTS } from '@faults/cases/index'
import { details, isWhole } from '@faults/report'
import { type FaultResult, runFaults } from '@faults/run'
import { SEED } from '@test/support/seed'

const IDS = ['U4', 'U7', 'C1', 'C4', 'C5', 'F1', 'F2', 'F4', 'F6m', 'F8', 'F15', 'F17']
/** Longer than all of them take on a machine that is busy with much else. */
const LIMIT_MS = 1_800_000

const results = new Map<string, FaultResult>()

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-gateway-faults-'))
  const faults = FAULTS.filter(({ id }) => IDS.includes(id))
  try {
    await runFaults(faults, {
      ...{ folder, seed: SEED, isQuick: true },
      onResult: (result) => void results.set(result.fault.id, result),
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, LIMIT_MS)

test.each(IDS)('the fault %s breaks no promise', (id) => {
  const result = results.get(id)
  const broken = result && !isWhole(result) ? details(result) : []
  expect({ wasPlayed: result !== undefined, broken, seed: SEED }).toEqual({ wasPlayed: true, broken: [], seed: SEED })
})
