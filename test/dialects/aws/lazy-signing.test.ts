/** The code that signs for AWS is only loaded if a provider has AWS credentials; Bedrock keys do not need it. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startUpstream } from '@test/support/upstream'
import type { JsonObject } from '@/lib/json'

/** What a process says that has called a provider with this entry once, and what came of the call. */
async function calling(entry: JsonObject) {
  const upstream = startUpstream(() => Response.json({}))
  const text = JSON.stringify({ ...entry, baseUrl: upstream.url + String(entry.baseUrl ?? '') })
  const running = Bun.spawn([process.execPath, join(import.meta.dir, 'loaded-modules.ts'), text], { stderr: 'inherit' })
  const said: unknown = JSON.parse(await new Response(running.stdout).text())
  upstream.stop()
  const [call] = upstream.calls
  return { said, path: call?.path, authorization: call?.headers.get('authorization') }
}

test.each([
  ['bedrock', 'chat-completions', '/openai/v1', '/openai/v1/chat/completions'],
  ['bedrock', 'responses', '/openai/v1', '/openai/v1/responses'],
  ['bedrock-anthropic', 'messages', '/anthropic', '/anthropic/v1/messages'],
])('E8: a Bedrock key at the preset %s of %s does not load the AWS code', async (preset, format, baseUrl, path) => {
  expect(await calling({ preset, format, baseUrl, keys: ['bedrock-api-key-1'] })).toEqual({
    said: { kind: 'answer', isLoaded: false },
    path,
    authorization: 'Bearer bedrock-api-key-1',
  })
})

test('AWS credentials load the AWS code', async () => {
  const auth = { type: 'aws', region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }
  const { said, authorization } = await calling({ format: 'messages', baseUrl: '/anthropic', auth })
  expect(said).toEqual({ kind: 'answer', isLoaded: true })
  expect(authorization).toStartWith('AWS4-HMAC-SHA256 ')
})
