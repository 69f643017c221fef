/** The OpenAPI document describes what the gateway does: its examples are accepted, and answers have the documented shape. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { modelAt, startTrio } from '@test/clients/trio'
import { answerCohere } from '@test/gateway/media/rankers'
import { answerSound, wavOf } from '@test/gateway/media/sounds'
import { answerPictures } from '@test/gateway/picture-providers'
import type { CatalogFile, Customer, TestGateway } from '@test/support/gateway'
import { type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import Ajv from 'ajv/dist/2020'
import { type Sandbox, startSandbox } from '@/boot/embedded/sandbox'
import { FORMAT_NAMES } from '@/chat/format-name'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { type DocumentedOperation, operationsOf } from './read-document'

let sandbox: Sandbox
/** A provider of sound and pictures. */
let sounds: ScriptedUpstream
let gateway: TestGateway
let customer: Customer
let document: JsonObject
let operations: DocumentedOperation[]
/** Knows the whole document, so that any schema in it can be asked for by where it stands. */
let judge: Ajv

beforeAll(async () => {
  sandbox = await startSandbox()
  sounds = startUpstream((call) => {
    if (call.path.includes('/images/')) return answerPictures(call)
    return call.path.endsWith('/rerank') ? answerCohere(call) : answerSound(call)
  })
  gateway = await startTrio({ origin: sandbox.baseUrl, catalog: sellOthers })
  customer = await gateway.customer('100')
  document = (await (await fetch(`${gateway.url}/docs/json`)).json()) as JsonObject
  operations = operationsOf(document)
  judge = new Ajv({ strict: false, validateFormats: false, allErrors: true }).addSchema(document, 'document')
})
afterAll(async () => {
  await gateway.stop()
  await sandbox.stop()
  sounds.stop()
})

/** A model of embeddings, and one each that makes pictures, speaks, transcribes, and ranks. */
function sellOthers(file: CatalogFile): void {
  const targets = [{ provider: 'chat-completions', model: 'embed-upstream' }]
  const pricing = { inputPer1mTokens: 0.02 }
  const common = { created: 1_706_140_800, ownedBy: 'provider1', contextLength: 8_192 }
  file.models.push({ id: EMBEDDING_MODEL, kind: 'embedding', name: 'Embed', targets, pricing, ...common })
  file.providers.sounds = { format: FORMAT_NAMES[0], baseUrl: `${sounds.url}/v1`, keys: ['sounds-secret-canary'] }
  const others = [
    ['image', { billable: 'output_image', unit: 'image', usd: 0.04 }],
    ['speech', { billable: 'input_text', unit: 'character', usd: 15 }],
    ['transcription', { billable: 'input_audio', unit: 'second', usd: 0.0001 }],
    ['rerank', { billable: 'request', unit: 'search_unit', usd: 0.002 }],
  ] as const
  for (const [kind, line] of others)
    file.models.push({
      ...{ id: `svc/${kind}`, kind, name: kind, pricing: { lines: [line] }, ...common },
      targets: [{ provider: 'sounds', model: kind }],
    })
}

const EMBEDDING_MODEL = 'svc/embed'
/** What examples name. */
const SOLD = new RegExp(`${EMBEDDING_MODEL}|${modelAt(FORMAT_NAMES[0])}`)
const ASKED = { 'content-type': 'application/json' }

function send(
  { method, pathExample, isForm }: DocumentedOperation,
  body?: JsonValue,
  headers: Record<string, string> = {},
) {
  const credentials = { authorization: `Bearer ${customer.key}` }
  if (isForm && headers['content-type'] === undefined)
    return fetch(gateway.url + pathExample, { method, headers: { ...credentials, ...headers }, body: formOf(body) })
  return fetch(gateway.url + pathExample, {
    method,
    headers: { ...ASKED, ...credentials, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** The form of an example, in which `@` stands before the name of a file. */
function formOf(body: JsonValue | undefined): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(isJsonObject(body) ? body : {})) {
    const text = String(value)
    form.append(name, text.startsWith('@') ? new File([wavOf(1)], text.slice(1)) : text)
  }
  return form
}

/** Expects `response` to be one of those that the operation documents, in every part of its body. */
async function expectDocumented({ name, responses }: DocumentedOperation, response: Response): Promise<void> {
  const status = String(response.status)
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? ''
  const text = await response.text()
  const schema = schemaAt(responses[status]?.content, type)
  expect([name, status, type, schema !== undefined]).toEqual([name, status, type, true])
  for (const value of valuesOf(type, text)) {
    const isAsDocumented = judge.validate(withRoot(schema as JsonObject), value)
    expect([name, status, isAsDocumented ? '' : judge.errorsText(), value]).toEqual([name, status, '', value])
  }
  const promised = responses[status]?.headers ?? []
  const missing = promised.filter((header) => !OCCASIONAL.test(header) && !response.headers.has(header))
  expect([name, status, missing]).toEqual([name, status, []])
}

/** Headers that only some of the answers have. */
const OCCASIONAL =
  /^(retry-after|x-svc-max-output-tokens|x-svc-left-out|x-svc-tags-ignored|idempotent-replayed|x-svc-cache|x-request-id)$/

function schemaAt(content: JsonObject | undefined, type: string): JsonObject | undefined {
  const media = content?.[type]
  return isJsonObject(media) && isJsonObject(media.schema) ? media.schema : undefined
}

/** References are to the document, wherever a schema is taken from. */
function withRoot(schema: JsonObject): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components'))
}

/** What a body says: a JSON value, the data of each event that is JSON, or the text. */
function valuesOf(type: string, text: string): JsonValue[] {
  if (type !== 'text/event-stream') return [type === 'application/json' ? (parseJson(text) ?? null) : text]
  const events = text.split(/\r?\n\r?\n/).flatMap((event) => /^data: ?(.*)$/m.exec(event)?.[1] ?? [])
  expect(events.length).toBeGreaterThan(3)
  return events.filter((data) => data !== '[DONE]').map((data) => parseJson(data) ?? data)
}

describe.each([...FORMAT_NAMES])('with a provider of %s', (provider) => {
  test('every example of an inference operation is accepted and answered as documented', async () => {
    const first = modelAt(FORMAT_NAMES[0])
    const asked = operations.filter(({ tags }) => tags.includes('Inference'))
    expect(asked.length).toBeGreaterThanOrEqual(7)
    for (const operation of asked) {
      for (const example of Object.values(operation.examples)) {
        const body = { ...example, ...(example.model === first && { model: modelAt(provider) }) }
        const at = { ...operation, pathExample: operation.pathExample.replace(first, modelAt(provider)) }
        const response = await send(at, body)
        expect([operation.name, response.status]).toEqual([operation.name, 200])
        await expectDocumented(operation, response)
      }
    }
  })
})

test('a generate-content stream is documented as events and as an array', async () => {
  const streaming = operations.find(({ path }) => path.endsWith(':streamGenerateContent'))
  if (!streaming) throw new Error('there is no such operation')
  const body = Object.values(streaming.examples)[0]
  await expectDocumented(streaming, await send(streaming, body))
  await expectDocumented(streaming, await send({ ...streaming, pathExample: `${streaming.pathExample}?alt=sse` }, body))
})

test('inference errors have the documented shapes', async () => {
  for (const operation of operations.filter(({ tags }) => tags.includes('Inference'))) {
    const [body] = Object.values(operation.examples)
    const unknown = { ...operation, pathExample: operation.pathExample.replace(SOLD, 'svc/none') }
    const unknownBody = body && 'model' in body ? { ...body, model: 'svc/none' } : body
    const failures: [number, Response][] = [
      [400, await send(operation, [])],
      [401, await send(operation, body, { authorization: 'Bearer svc-wrong' })],
      [404, await send(unknown, unknownBody)],
      [415, await send(operation, body, { 'content-type': 'text/plain' })],
    ]
    for (const [status, response] of failures) {
      expect([operation.name, response.status]).toEqual([operation.name, status])
      await expectDocumented(operation, response)
    }
  }
})

test('an account without credit is refused as documented', async () => {
  const { key } = await gateway.customer('0')
  const routed = operations.filter(({ responses }) => responses[402] !== undefined && responses[200] !== undefined)
  for (const operation of routed.filter(({ tags }) => tags.includes('Inference'))) {
    const response = await send(operation, Object.values(operation.examples)[0], { authorization: `Bearer ${key}` })
    expect([operation.name, response.status]).toEqual([operation.name, 402])
    await expectDocumented(operation, response)
  }
})

test('operations without a body answer as documented', async () => {
  const tags = ['Models', 'Usage', 'Operations']
  const asked = operations.filter((operation) => operation.method === 'get' && tags.includes(operation.tags[0] ?? ''))
  expect(asked.length).toBeGreaterThanOrEqual(8)
  const { headers } = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...ASKED, authorization: `Bearer ${customer.key}` },
    body: JSON.stringify({ model: modelAt(FORMAT_NAMES[0]), messages: [{ role: 'user', content: 'Hi' }] }),
  })
  for (const operation of asked) {
    const isOfOne = operation.pathExample === '/v1/generation'
    const pathExample = isOfOne ? `/v1/generation?id=${headers.get('x-request-id')}` : operation.pathExample
    const response = await send({ ...operation, pathExample })
    expect([operation.name, response.status]).toEqual([operation.name, 200])
    await expectDocumented(operation, response)
  }
})
