/** FormatNames of a provider's own format get its errors unchanged, except for the gateway's data; no error contains a secret. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { questionIn } from '@test/gateway/told-in-pieces'
import { startGateway, type TestGateway } from '@test/support/gateway'
import type { UpstreamCall } from '@test/support/upstream'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { parseJson } from '@/lib/json'

const KEY = 'odd-key-canary-0123456789'
const HEADER = 'fixed-header-canary-0123456789'
const AWS = {
  type: 'aws' as const,
  region: 'eu-west-1',
  accessKeyId: 'ASIACANARYCANARY',
  secretAccessKey: 'aws-secret-canary-0123456789',
  sessionToken: 'session+canary/0123456789==',
}
const MADE = {
  AccessKeyId: 'ASIAMADECANARY',
  SecretAccessKey: 'made-canary-0123456789',
  SessionToken: 'made+token/canary==',
}
const ARN = 'arn:aws:bedrock:eu-west-1:123456789012:inference-profile/ours-alone'

let world: TestGateway
let key: string
let answer: (call: UpstreamCall) => Response

beforeAll(async () => {
  world = await startGateway({
    respond: (call) => answer(call),
    async catalog(file) {
      const [model] = file.models
      const address = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      const profile = { type: 'aws' as const, region: 'eu-west-1', profile: 'made' }
      const files = { credentialsFile: `${import.meta.dir}/no-such-file`, configFile: configPath }
      const entries: Record<string, object> = {
        chat: { format: 'chat-completions', baseUrl: `${address}/v1`, keys: [KEY], headers: { 'x-team': HEADER } },
        responses: { format: 'responses', baseUrl: `${address}/v1`, keys: [KEY] },
        messages: { format: 'messages', baseUrl: address, keys: [KEY] },
        gemini: { format: 'generate-content', apiVersion: 'v1beta', baseUrl: address, keys: [KEY] },
        signed: { format: 'messages', dialect: 'bedrock-invoke', baseUrl: address, auth: AWS },
        shown: { format: 'messages', dialect: 'bedrock-converse', baseUrl: address, auth: { ...AWS, bearer: true } },
        made: { format: 'messages', dialect: 'bedrock-invoke', baseUrl: address, auth: { ...profile, ...files } },
      }
      for (const [name, entry] of Object.entries(entries)) {
        file.providers[name] = entry as (typeof file.providers)[string]
        file.models.push({ ...model, id: `svc/${name}`, targets: [{ provider: name, model: 'm' }] })
      }
    },
  })
  key = (await world.customer('100')).key
})
afterAll(async () => {
  await world.stop()
  await rm(dirname(configPath), { recursive: true })
})

const configPath = join(await mkdtemp(join(tmpdir(), 'svc-own-words-')), 'config')
await Bun.write(
  configPath,
  `[profile made]\ncredential_process = printf '%s' '${JSON.stringify({ Version: 1, ...MADE })}'\n`,
)

async function ask(caller: FormatName, model: string, stream = false) {
  const { path, body } = questionIn(caller, model, { stream, limit: 9 })
  const response = await fetch(world.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, json: parseJson(text) as { error?: object } | undefined }
}

/** Longer than what callers of other formats get, with addresses and names that are the provider's own or the caller's. */
const LONG = `tools.3.input_schema: see https://docs.example/tools, key_of_the_caller_1234. ${'Very long. '.repeat(100)}The end.`

const OWN: [FormatName, string, number, object][] = [
  [
    'chat-completions',
    'chat',
    400,
    { message: LONG, type: 'invalid_request_error', param: 'tools[3]', code: 'bad_tool' },
  ],
  ['chat-completions', 'chat', 422, { message: LONG, type: 'invalid_request_error', param: null, code: null }],
  [
    'responses',
    'responses',
    400,
    { message: LONG, type: 'invalid_request_error', param: 'tools[3]', code: 'bad_tool' },
  ],
  ['messages', 'messages', 400, { type: 'invalid_request_error', message: LONG }],
  [
    'messages',
    'messages',
    400,
    { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
  ],
  ['messages', 'messages', 413, { type: 'request_too_large', message: 'Request exceeds the maximum size' }],
  [
    'generate-content',
    'gemini',
    400,
    {
      code: 400,
      message: LONG,
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'x', fieldViolations: [{ field: 'tools[3]' }] }],
    },
  ],
]

test.each(OWN)(
  'a %s caller gets the error of a provider of its format unchanged (%s, %i): %j',
  async (caller, model, status, error) => {
    answer = () =>
      Response.json({ ...(caller === 'messages' && { type: 'error', request_id: 'req_1' }), error }, { status })
    const told = await ask(caller, `svc/${model}`)
    expect([told.status, told.json?.error]).toEqual([status, error])
  },
)

test.each([
  ['chat-completions', 'messages'],
  ['messages', 'chat'],
] as const)('callers of %s get another format’s error in the gateway’s form and text', async (caller, model) => {
  answer = () => Response.json({ error: { type: 'invalid_request_error', message: LONG } }, { status: 400 })
  const { status, text } = await ask(caller, `svc/${model}`)
  expect(status).toBe(400)
  expect(text).toContain('The model provider refused the request: ')
  expect(text).not.toContain('The end.')
})

test('an error in an unknown form is returned in the gateway’s form with the provider’s text', async () => {
  answer = () => Response.json({ error: { code: 400, status: 'INVALID_ARGUMENT', message: LONG } }, { status: 400 })
  const { json } = await ask('chat-completions', 'svc/chat')
  expect(json?.error).toEqual({ message: LONG, type: 'invalid_request_error', param: null, code: null })
})

/** All that arrived, as a provider that explains a signature quotes it: as it is, and encoded. */
function quoting(call: UpstreamCall): string {
  const headers = [...call.headers].map(([name, value]) => `${name}:${value}`).join('\n')
  return `Refused: ${headers} ${encodeURIComponent(headers)} ${world.upstream.url} ${ARN} account 123456789012`
}

const SECRETS = /.{0,20}(?:canary|ASIA|Signature=[0-9a-f]{64}).{0,20}/i
const OURS = /.{0,20}(?:ours-alone|123456789012).{0,20}/i
const found = (pattern: RegExp, text: string) => pattern.exec(text)?.[0]

describe.each(['chat', 'responses', 'messages', 'gemini', 'signed', 'shown', 'made'])(
  'errors of the provider of svc/%s',
  (model) => {
    test.each([400, 403, 500])('neither the error nor the log repeats the request body: %i', async (status) => {
      const logged = world.logLines.length
      for (const caller of FORMAT_NAMES) {
        answer = (call) =>
          Response.json(
            {
              message: quoting(call),
              error: { type: quoting(call), code: quoting(call), status: 'X', message: quoting(call) },
            },
            { status, headers: { 'x-amzn-errortype': 'ValidationException' } },
          )
        const { text } = await ask(caller, `svc/${model}`)
        for (const pattern of [SECRETS, OURS]) expect(found(pattern, text)).toBeUndefined()
        expect(text).not.toContain(world.upstream.url)
      }
      expect(found(SECRETS, world.logLines.slice(logged).join('\n'))).toBeUndefined()
    })
  },
)

test.each(['chat-completions', 'messages'] as const)(
  'an error inside a stream of %s does not repeat the request body',
  async (caller) => {
    for (const model of ['chat', 'messages']) {
      answer = (call) => {
        const error = { type: 'error', error: { type: 'invalid_request_error', code: 400, message: quoting(call) } }
        const opening =
          model === 'chat'
            ? [
                {
                  id: 'c',
                  object: 'chat.completion.chunk',
                  created: 1,
                  model: 'm',
                  choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }],
                },
              ]
            : [
                {
                  type: 'message_start',
                  message: {
                    id: 'm',
                    type: 'message',
                    role: 'assistant',
                    model: 'm',
                    content: [],
                    usage: { input_tokens: 1, output_tokens: 1 },
                  },
                },
                { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
                { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
              ]
        const frames = [...opening, error].map(
          (data) => `event: ${'type' in data ? data.type : 'x'}\ndata: ${JSON.stringify(data)}\n\n`,
        )
        return new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
      }
      const { text } = await ask(caller, `svc/${model}`, true)
      expect(text).toContain('Hel')
      expect(text).toContain('Refused: ')
      expect(found(SECRETS, text + world.logLines.join('\n'))).toBeUndefined()
    }
  },
)

test('Azure’s first chunk without choices is not sent to chat clients', async () => {
  const chunk = (more: object) => ({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })
  const frames = [
    { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
    chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
  ]
  answer = () =>
    new Response(`${frames.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('')}data: [DONE]\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  const { text } = await ask('chat-completions', 'svc/chat', true)
  expect(text).not.toContain('prompt_filter_results')
  expect(text).toContain('Hel')
})

test('usage at the start of a translated message is marked as an estimate, and is exact at the end', async () => {
  const chunk = (more: object) => ({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })
  const frames = [
    chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    chunk({ choices: [], usage: { prompt_tokens: 17, completion_tokens: 3, total_tokens: 20 } }),
  ]
  answer = () =>
    new Response(`${frames.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('')}data: [DONE]\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  const { text } = await ask('messages', 'svc/chat', true)
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as Record<string, never>)
  const started = events.find(({ type }) => type === 'message_start') as { message?: { usage: object } } | undefined
  const ended = events.find(({ type }) => type === 'message_delta') as { usage?: object } | undefined
  expect(started?.message?.usage).toMatchObject({ estimated: true, output_tokens: 0 })
  expect(ended?.usage).toMatchObject({ input_tokens: 17, output_tokens: 3 })
  expect(ended?.usage).not.toHaveProperty('estimated')
})
