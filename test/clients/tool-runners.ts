/** The libraries' own tool runners: they decide what of a conversation is sent with each turn, and the model must be shown all of it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import type { Library } from './libraries/library'
import { MODES, pairsOf, TOOL_TALK } from './suite'
import { QUESTION, SAW_ALL, SYSTEM, testify } from './witness'

/** Declares the tests of those that have one, against every provider format. */
export function describeToolRunners(libraries: readonly Library[]): void {
  let world: ScriptedModels
  beforeAll(async () => {
    world = await startScriptedModels()
  })
  afterAll(() => world.gateway.stop())

  const pairs = pairsOf(libraries.filter(({ runTools }) => runTools))
  describe.each(pairs)('the tool runner of %s with a provider of %s', (_name, provider, library) => {
    test.each(MODES)('sends the model the whole conversation, %s', async (_mode, isStream) => {
      const model = world.modelWith(provider, (call) => testify(provider, call))
      const access = { baseUrl: world.gateway.url, key: world.customer.key }
      const talked = await library.runTools?.(access, { model, system: SYSTEM, prompt: QUESTION, isStream })
      expect(talked).toEqual({ ...TOOL_TALK, text: SAW_ALL })
    })
  })
}
