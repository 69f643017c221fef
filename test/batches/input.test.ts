/** Faulty input files are refused with line numbers before anything is stored. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import { BadRequestError, type OpenAI } from 'openai'
import { begin, CHAT, chatLine, clientOf, jsonl, upload } from './world'

let gateway: TestGateway
let customer: Customer
let client: OpenAI

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Yes')),
    environment: { MAX_BODY_BYTES: '4096' },
  })
  customer = await gateway.customer('10')
  client = clientOf(gateway.url, customer)
})
afterAll(() => gateway.stop())

type Fault = { line: number; code: string; param: string | null }

async function faultsOf(lines: readonly unknown[], endpoint = CHAT): Promise<Fault[]> {
  const refused = await begin(client, lines, endpoint as typeof CHAT).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(BadRequestError)
  const { code, error } = refused as BadRequestError & { error: { errors: { data: Fault[] } } }
  expect(code).toBe('invalid_batch_input')
  return error.errors.data
}

const { model: _, ...NO_MODEL } = chatLine('x').body

describe('a faulty line', () => {
  const CASES: [string, unknown, Omit<Fault, 'line'>][] = [
    ['is broken JSON', '{"custom_id": "x"', { code: 'invalid_json_line', param: null }],
    ['is a list', '[1]', { code: 'invalid_json_line', param: null }],
    ['is nested too deeply', `{"a":${'['.repeat(80)}${']'.repeat(80)}}`, { code: 'invalid_json_line', param: null }],
    ['has no custom_id', { ...chatLine('x'), custom_id: undefined }, { code: 'invalid_custom_id', param: 'custom_id' }],
    [
      'has a number as custom_id',
      { ...chatLine('x'), custom_id: 7 },
      { code: 'invalid_custom_id', param: 'custom_id' },
    ],
    ['has a NUL in its custom_id', chatLine('a\0b'), { code: 'invalid_custom_id', param: 'custom_id' }],
    ['has an earlier custom_id', chatLine('1'), { code: 'duplicate_custom_id', param: 'custom_id' }],
    ['is no POST', { ...chatLine('x'), method: 'GET' }, { code: 'invalid_method', param: 'method' }],
    ['has another url', { ...chatLine('x'), url: '/v1/embeddings' }, { code: 'invalid_url', param: 'url' }],
    ['has no body', { ...chatLine('x'), body: null }, { code: 'missing_required_parameter', param: 'body' }],
    ['streams', chatLine('x', { stream: true }), { code: 'invalid_request', param: 'body.stream' }],
    ['names no model', { ...chatLine('x'), body: NO_MODEL }, { code: 'invalid_request', param: 'body.model' }],
    ['names an unknown model', chatLine('x', { model: 'svc/none' }), { code: 'model_not_found', param: 'body.model' }],
    [
      'breaks a rule of its endpoint',
      chatLine('x', { temperature: 9 }),
      { code: 'invalid_request', param: 'body.temperature' },
    ],
    ['is too long', chatLine('x', { user: 'x'.repeat(5_000) }), { code: 'line_too_long', param: null }],
  ]
  test.each(CASES)('a line that %s is refused with its number', async (_what, line, fault) => {
    expect(await faultsOf([chatLine('1'), chatLine('2'), line, chatLine('4')])).toEqual([
      expect.objectContaining({ line: 3, ...fault }),
    ])
  })
})

test('an unknown model in line 4,711 is refused; nothing is stored or held, and no provider is called', async () => {
  const lines = Array.from({ length: 5_000 }, (_, index) =>
    chatLine(`${index}`, index === 4_710 ? { model: 'svc/none' } : {}),
  )
  expect(await faultsOf(lines)).toEqual([expect.objectContaining({ line: 4_711, code: 'model_not_found' })])
  const { sql } = gateway.gateway.database
  expect([...(await sql`SELECT id FROM batches`)]).toEqual([])
  expect([...(await sql`SELECT place FROM batch_lines LIMIT 1`)]).toEqual([])
  const { held, seq } = await gateway.balance(customer.accountId)
  expect({ held: Number(held), seq, calls: gateway.upstream.calls.length }).toEqual({ held: 0, seq: 0, calls: 0 })
})

test('only the first ten faults are reported; an empty line is no fault, but has a number', async () => {
  const lines = ['', ...Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? chatLine(`${index}`) : 'no'))]
  const faults = await faultsOf(lines)
  expect(faults.map(({ line }) => line)).toEqual([3, 5, 7, 9, 11, 13, 15, 17, 19, 21])
})

test('an empty file is refused', async () => {
  expect(await faultsOf(['', ' '])).toEqual([expect.objectContaining({ code: 'empty_file' })])
})

test.each([
  ['an unknown endpoint', { endpoint: '/v1/images/generations' }, 'endpoint'],
  ['another completion window', { completion_window: '1h' }, 'completion_window'],
  ['an unknown file', { input_file_id: 'file-none' }, 'input_file_id'],
  [
    'too much metadata',
    { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])) },
    'metadata',
  ],
])('a batch with %s is refused', async (_what, change, param) => {
  const input_file_id = await upload(client, jsonl([chatLine('1')]))
  const body = { input_file_id, endpoint: CHAT, completion_window: '24h' as const, ...change }
  const refused = await client.batches.create(body as never).catch((error: unknown) => error)
  expect(refused).toMatchObject({ param })
})

describe('an upload', () => {
  const send = (parts: [string, string | File][]) => {
    const body = new FormData()
    for (const [name, value] of parts) body.append(name, value)
    return fetch(`${gateway.url}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.key}` },
      body,
    })
  }
  const file = (text: string) => new File([text], 'lines.jsonl')

  test.each<[string, [string, string | File][], number, string]>([
    [
      'for another purpose',
      [
        ['purpose', 'assistants'],
        ['file', file('{}')],
      ],
      400,
      'purpose',
    ],
    ['without a purpose', [['file', file('{}')]], 400, 'purpose'],
    ['without a file', [['purpose', 'batch']], 400, 'file'],
    [
      'of two files',
      [
        ['purpose', 'batch'],
        ['file', file('{}')],
        ['file', file('{}')],
      ],
      400,
      'file',
    ],
    [
      'of too many lines',
      [
        ['purpose', 'batch'],
        ['file', file('\n'.repeat(50_001))],
      ],
      413,
      'file',
    ],
  ])('an upload %s is refused, and nothing is stored', async (_what, parts, status, param) => {
    const response = await send(parts)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { param } })
    const { sql } = gateway.gateway.database
    expect([...(await sql`SELECT id FROM batch_files WHERE NOT is_whole`)]).toEqual([])
  })

  test('an upload as JSON is refused with status 415', async () => {
    const response = await fetch(`${gateway.url}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(response.status).toBe(415)
  })

  test('an upload that is stored in several parts is returned unchanged', async () => {
    const text = `${'ä'.repeat(700_000)}\r\n${'x'.repeat(1_500_000)}`
    const id = await upload(client, text)
    expect(await (await client.files.content(id)).text()).toBe(text)
  })
})

test('another account can read neither the file nor the batch', async () => {
  const made = await begin(client, [chatLine('1')])
  const stranger = clientOf(gateway.url, await gateway.customer('1'))
  const attempts = [
    () => stranger.files.retrieve(made.input_file_id),
    () => stranger.files.content(made.input_file_id),
    () => stranger.files.delete(made.input_file_id),
    () => stranger.batches.retrieve(made.id),
    () => stranger.batches.cancel(made.id),
    () => stranger.batches.create({ input_file_id: made.input_file_id, endpoint: CHAT, completion_window: '24h' }),
  ]
  for (const attempt of attempts)
    expect(await attempt().catch((error: unknown) => error)).toMatchObject({ status: 404 })
  expect((await stranger.batches.list()).data).toEqual([])
  expect((await stranger.files.list()).data).toEqual([])
})
