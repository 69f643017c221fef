/** Every published library through the odd answers among the fixtures; the even ones are the matrix's. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { PythonLibrary } from '@test/clients/python/libraries'
import { type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import { judgedClients } from './clients'
import { createJudge, type Judge } from './judge'
import { readRecordings } from './recordings'

export const FIXTURES = join(import.meta.dir, '..', '..', 'fixtures')

/** The recordings that are of no answer, and so of none to any client. */
const FAILURES = /error|\/cut|malformed-json|only-done|begun-anew/

/** Declares the tests. */
export function describeRecorded(libraries: readonly PythonLibrary[]): void {
  let world: ScriptedModels
  let judge: Judge
  beforeAll(async () => {
    world = await startScriptedModels()
    judge = createJudge(world, judgedClients(libraries))
  })
  afterAll(() => world.gateway.stop())

  const recordings = readRecordings(FIXTURES).filter(({ name }) => !name.includes('/matrix/'))
  describe('every library reads a recorded answer alike, and none fails', () => {
    test.each(recordings.map((recording) => [recording.name, recording] as const))('%s', async (_name, recording) => {
      expect(await judge.judge(recording)).toEqual({ broken: [], isFailure: FAILURES.test(recording.name) })
    })
  })
}
