/** Cache writes for an hour cost the one-hour price, whether the provider reports them separately or not. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type FormatName, type ScriptedModels, startScriptedModels } from './scripted-models'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const TEXT = 'word '.repeat(1_000)
const WRITTEN = 1_000
/** Per million tokens, of the catalogue's own model. */
const [INPUT_USD, OUTPUT_USD, BRIEF_USD, HOUR_USD] = [1, 2, 1.25, 2]
const TOTAL = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: WRITTEN }
const splitOf = (brief: number, hour: number) => ({
  ...TOTAL,
  cache_creation: { ephemeral_5m_input_tokens: brief, ephemeral_1h_input_tokens: hour },
})
const bodyFor = (ttl: string) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: TEXT, cache_control: { type: 'ephemeral', ttl } }] }],
})
const answerOf = (usage: object) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'x', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Sound' }],
  usage,
})

const CASES: [asked: string, said: string, usage: object, brief: number, hour: number][] = [
  ['1h', 'one total', TOTAL, 0, WRITTEN],
  ['5m', 'one total', TOTAL, WRITTEN, 0],
  ['1h', 'all for an hour', splitOf(0, WRITTEN), 0, WRITTEN],
  ['1h', 'all for five minutes', splitOf(WRITTEN, 0), WRITTEN, 0],
  ['1h', 'some for each lifetime', splitOf(400, 600), 400, 600],
  ['1h', 'a split without counts', splitOf(0, 0), 0, WRITTEN],
]

for (const client of ['messages', 'chat-completions'] satisfies FormatName[])
  test.each(CASES)(
    `${client}: cache writes for %s, reported as %s, have the price of their lifetime`,
    async (ttl, _, usage, brief, hour) => {
      const model = world.modelWith('messages', () => Response.json(answerOf(usage)))
      const { response } = await world.ask({ format: client, model, body: bodyFor(ttl) })
      expect(response.status).toBe(200)
      const usd = (10 * INPUT_USD + 5 * OUTPUT_USD + brief * BRIEF_USD + hour * HOUR_USD) / 1e6
      expect(Number(response.headers.get('x-svc-cost-usd'))).toBeCloseTo(usd, 9)
    },
  )
