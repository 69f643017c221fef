/**
 * The most telling faults of `bun run faults`, small and quick: whatever breaks a promise about money shows here first, in
 * every test run. A failure names the seed; `bun run faults --only <id> --seed <seed>` plays the fault again.
 */
import { beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FAULTS } from '@faults/cases/index'
import { details, isWhole } from '@faults/report'
import { type FaultResult, runFaults } from '@faults/run'

const IDS = ['U4', 'U7', 'C1', 'C4', 'C5', 'F1', 'F4', 'F8', 'F15']
const LIMIT_MS = 180_000

const seed = Math.floor(Math.random() * 2 ** 31)
const results = new Map<string, FaultResult>()

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-gateway-faults-'))
  const faults = FAULTS.filter(({ id }) => IDS.includes(id))
  try {
    await runFaults(faults, {
      ...{ folder, seed, isQuick: true },
      onResult: (result) => void results.set(result.fault.id, result),
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, LIMIT_MS)

test.each(IDS)('%s leaves every promise whole', (id) => {
  const result = results.get(id)
  const broken = result && !isWhole(result) ? details(result) : []
  expect({ wasPlayed: result !== undefined, broken, seed }).toEqual({ wasPlayed: true, broken: [], seed })
})
