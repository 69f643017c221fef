/** What a translation leaves out is written down, by feature and without the caller's values. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

test('what the target’s format cannot say is left out, and the log names the features without the caller’s values', async () => {
  const model = world.modelWith('messages', () => soundAnswer('messages', false))
  const { response } = await world.ask({
    format: 'chat-completions',
    model,
    body: { seed: 424_242, frequency_penalty: 1 },
  })
  expect(response.status).toBe(200)
  const line = world.gateway.logLines.findLast((text) => text.includes('"event":"request_features_left_out"'))
  expect(line).toContain('seed')
  expect(line).not.toContain('424242')
})
