/** An answer with an unknown finish reason, with or without text, streamed or whole, never looks complete to a client. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FORMATS, type FormatName, type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const PLAIN: Record<FormatName, [written: RegExp, unlisted: (word: string) => string]> = {
  'chat-completions': [/"finish_reason":"stop"/g, (word) => `"finish_reason":"${word}"`],
  messages: [/"stop_reason":"end_turn"/g, (word) => `"stop_reason":"${word}"`],
  'generate-content': [/"finishReason":"STOP"/g, (word) => `"finishReason":"${word}"`],
  responses: [
    /"status":"completed","error":null,"incomplete_details":null/g,
    (word) => `"status":"incomplete","error":null,"incomplete_details":{"reason":"${word}"}`,
  ],
}

/** How each format ends an answer of which nobody knows why it ended. */
const UNKNOWN: Record<FormatName, string> = {
  'chat-completions': '"finish_reason":"content_filter"',
  messages: '"stop_reason":"refusal"',
  'generate-content': '"finishReason":"OTHER"',
  responses: '"incomplete_details":{"reason":"content_filter"}',
}

const LENGTH: Record<FormatName, string> = {
  'chat-completions': '"finish_reason":"length"',
  messages: '"stop_reason":"max_tokens"',
  'generate-content': '"finishReason":"MAX_TOKENS"',
  responses: '"incomplete_details":{"reason":"max_output_tokens"}',
}

async function answerWith(
  format: FormatName,
  word: string,
  has: { stream: boolean; text: boolean },
): Promise<Response> {
  const sound = soundAnswer(format, has.stream)
  const [written, unlisted] = PLAIN[format]
  const said = (await sound.text())
    .replace(written, unlisted(word))
    .replace('response.completed', 'response.incomplete')
  return new Response(has.text ? said : said.replace(/"(Sound|So|und)"/g, '""'), { headers: sound.headers })
}

const CASES = FORMATS.flatMap((provider) =>
  FORMATS.flatMap((client) =>
    [true, false].flatMap((stream) => [true, false].map((text) => ({ provider, client, stream, text }))),
  ),
)

describe.each(CASES)(
  'unlisted finish reasons: $provider to $client, stream $stream, text $text',
  ({ provider, client, stream, text: hasText }) => {
    const words = ['NEW_SAFETY_RULE', 'new_limit']
    // In another format, an unknown word and nothing else is no answer: see attempt/unknown-finish.test.ts.
    test.each(hasText || client === provider ? ['SOMETHING_NEW', ...words] : words)(
      'the finish reason %s does not become a normal stop',
      async (word) => {
        let calls = 0
        const model = world.modelWith(provider, () => {
          calls++
          return answerWith(provider, word, { stream, text: hasText })
        })
        const { response, text } = await world.ask({ format: client, model, stream })
        expect([response.status, calls]).toEqual([200, 1])
        const [plain, asWritten] = PLAIN[client]
        expect(text.replaceAll('": ', '":')).not.toMatch(new RegExp(plain.source))
        if (client === provider) expect(text).toContain(asWritten(word))
        else if (word === 'new_limit') expect(text).toContain(LENGTH[client])
        else if (word === 'SOMETHING_NEW') expect(text).toContain(UNKNOWN[client])
        else expect(text).toContain(client === 'generate-content' ? '"finishReason":"SAFETY"' : UNKNOWN[client])
      },
    )
  },
)

test('an unlisted finish reason is logged once by name, and counted', async () => {
  const model = world.modelWith('generate-content', () =>
    answerWith('generate-content', 'SOMETHING_NEW', { stream: false, text: true }),
  )
  const provider = model.replace('svc/', '')
  await world.ask({ format: 'chat-completions', model })
  const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text()
  expect(metrics).toContain(`svc_unlisted_finish_reasons_total{provider="${provider}"} 1`)
})
