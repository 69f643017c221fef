/** The OpenAPI document is valid by public validators, complete, without repetitions, and loads quickly. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import SwaggerParser from '@apidevtools/swagger-parser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletions } from '@/formats/chat-completions/index'
import { openApiDocument } from '@/http/openapi/document'
import { INFERENCE_ERRORS } from '@/http/openapi/errors'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { type DocumentedOperation, operationsOf } from './read-document'

const ROOT = join(import.meta.dir, '..', '..', '..')
const REDOCLY = join(ROOT, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js')
/** A schema longer than this is not written twice. */
const REPEATED_CHARS = 600
const MAX_BYTES = 470_000
const MAX_TRANSFER_BYTES = 54_000

let gateway: TestGateway
let text: string
let operations: DocumentedOperation[]

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}) })
  text = await (await fetch(`${gateway.url}/docs/json?internal=true`)).text()
  operations = operationsOf(JSON.parse(text))
})
afterAll(() => gateway.stop())

describe('validators of OpenAPI find no fault:', () => {
  test('swagger-parser accepts the document', async () => {
    await SwaggerParser.validate(JSON.parse(text))
  })

  test('redocly accepts the document by its strict rules', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'openapi-'))
    const path = join(folder, 'openapi.json')
    await Bun.write(path, JSON.stringify(JSON.parse(text), null, 1))
    const quiet = ['env', 'REDOCLY_TELEMETRY=off', 'REDOCLY_SUPPRESS_UPDATE_NOTICE=true']
    const lint = [process.execPath, REDOCLY, 'lint', path, '--format=json', '--config=redocly.yaml']
    const child = Bun.spawn([...quiet, ...lint], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' })
    const [output, notes] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    await rm(folder, { recursive: true })
    const begin = output.indexOf('{')
    expect(begin, notes).toBeGreaterThanOrEqual(0)
    const { problems, totals } = JSON.parse(output.slice(begin))
    const told = problems.map(({ ruleId, message, location }: Problem) => [ruleId, message, location[0]?.pointer])
    expect([told, totals.errors, totals.warnings, totals.ignored, await child.exited]).toEqual([[], 0, 0, 0, 0])
  })
})

type Problem = { ruleId: string; message: string; location: { pointer?: string }[] }

describe('an inference operation', () => {
  const inference = () => operations.filter(({ tags }) => tags.includes('Inference'))

  test('a documented inference operation has examples, answer schemas, and an error for each status in its format', () => {
    expect(inference().length).toBeGreaterThanOrEqual(7)
    const lacking = inference().flatMap(({ name, examples, responses }) => {
      const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400)
      const untold = errors.filter(([, { content }]) => schemaOf(content) === undefined).map(([status]) => status)
      return [
        ...(Object.keys(examples).length > 0 ? [] : [`${name}: examples`]),
        ...(schemaOf(responses[200]?.content) ? [] : [`${name}: the schema of its answer`]),
        ...(errors.length >= 5 ? [] : [`${name}: errors`]),
        ...untold.map((status) => `${name}: the body of ${status}`),
      ]
    })
    expect(lacking).toEqual([])
  })

  test('an operation that calls a model lists every status, the routing and limit headers, and preferences', () => {
    const routed = inference().filter(({ responses }) => responses[200]?.headers.includes('x-svc-model'))
    expect(routed.length).toBeGreaterThanOrEqual(4)
    for (const { name, responses, parameters } of routed) {
      // Some formats have a status of their own for a service that is busy.
      const statuses = Object.keys(responses).map((status) => (status === '529' ? 503 : Number(status)))
      expect([name, statuses]).toEqual([name, expect.arrayContaining([200, ...INFERENCE_ERRORS])])
      expect(responses[200]?.headers.filter((header) => header.includes('ratelimit'))).toHaveLength(6)
      expect(responses[429]?.headers).toContain('retry-after')
      expect(parameters).toEqual(expect.arrayContaining(['x-svc-quality', 'x-svc-session']))
    }
  })

  test('the document shows the request id in the header that the format’s clients read', () => {
    const headers = (path: string) => operations.find(({ name }) => name === `post ${path}`)?.responses[200]?.headers
    expect(headers('/v1/messages')).toContain('request-id')
    expect(headers('/v1/chat/completions')).not.toContain('request-id')
  })

  test('an overload is documented in the format’s own shape', () => {
    const of = (path: string) => operations.find(({ name }) => name === `post ${path}`)?.responses ?? {}
    expect(Object.keys(of('/v1/messages'))).toContain('529')
    expect(Object.keys(of('/v1/messages'))).not.toContain('503')
    expect(Object.keys(of('/v1/chat/completions'))).toContain('503')
  })
})

test('every documented operation says who may call it: anybody, a key, or a person', () => {
  const bySession = operations.filter(({ security }) => security.join() === 'session')
  const byKey = operations.filter(({ security }) => security.includes('bearer'))
  const open = operations.filter(({ security }) => security.length === 0)
  expect([...new Set(bySession.map(({ tags }) => tags.join()))].sort()).toEqual(['Administration', 'Dashboard'])
  const { bearer } = JSON.parse(text).components.securitySchemes
  for (const form of ['Bearer svc-', 'svc-mgmt-', 'x-api-key', 'x-goog-api-key', '?key='])
    expect(bearer.description).toContain(form)
  expect(byKey.map(({ name }) => name)).toContain('post /v1/chat/completions')
  expect(open.map(({ name }) => name)).toContain('get /v1/models')
  const told = bySession.length + byKey.length + open.length
  expect([bySession.length > 40, byKey.length > 30, told]).toEqual([true, true, operations.length])
})

test('/docs/json has the public operations, and none that only the dashboard calls', async () => {
  const response = await fetch(`${gateway.url}/docs/json`)
  const document = await response.json()
  const isInternal = ({ tags }: DocumentedOperation) => /^(Dashboard|Administration)$/.test(tags.join())
  const names = operationsOf(document).map(({ name }) => name)
  expect(names).toEqual(operations.filter((operation) => !isInternal(operation)).map(({ name }) => name))
  expect(names.length).toBeGreaterThan(40)
  expect(document.tags.map(({ name }: { name: string }) => name)).not.toContain('Dashboard')
  expect(Object.keys(document.components.securitySchemes)).toEqual(['bearer'])
  await SwaggerParser.validate(document)
})

test('inference operations show the guide’s sample with a sold model', () => {
  for (const [name, word] of [
    ['post /v1/chat/completions', 'client.chat.completions.create('],
    ['post /v1/messages', 'client.messages.stream('],
    ['post /v1/responses', 'client.responses.create('],
    ['post /v1/embeddings', 'client.embeddings.create('],
    ['post /v1beta/models/{model}:streamGenerateContent', 'client.models.generateContentStream('],
  ] as const)
    expect(operations.find((operation) => operation.name === name)?.description).toContain(word)
  expect(text).not.toContain('model-for-example')
})

test('no parameter’s default changes what an account sees', () => {
  const examples = /"name":"x-svc-tags"[^}]*"example"/
  expect(text).toContain('"name":"x-svc-tags"')
  expect(text).not.toMatch(examples)
})

test('tags in the OpenAPI document have its order, internal ones last', () => {
  const tags = [...new Set(operations.map((operation) => operation.tags.join()))]
  expect(tags).toEqual([
    'Inference',
    'Models',
    'Batches',
    'Stored responses',
    'Usage',
    'Management',
    'Operator',
    'Operations',
    'Webhooks',
    'Dashboard',
    'Administration',
  ])
})

test('no large schema is written twice in the OpenAPI document', () => {
  const counts = new Map<string, number>()
  walkSchemas(JSON.parse(text), (schema) => {
    const written = JSON.stringify(schema)
    if (written.length > REPEATED_CHARS) counts.set(written, (counts.get(written) ?? 0) + 1)
  })
  const repeated = [...counts].filter(([, count]) => count > 1)
  expect(repeated.map(([written, count]) => `${count} × ${written.slice(0, 200)}`)).toEqual([])
})

test('unknown body fields are documented as omitted and named', () => {
  const promise = /without a rule are left out and named in `x-svc-left-out`/
  const routed = operations.filter(({ responses }) => responses[200]?.headers.includes('x-svc-left-out'))
  const chats = routed.filter(({ parameters }) => parameters.includes('x-svc-session'))
  expect(chats.length).toBeGreaterThanOrEqual(4)
  expect(chats.filter(({ description }) => !promise.test(description)).map(({ name }) => name)).toEqual([])
  expect(operations.filter(({ description }) => /passed on|every field/.test(description))).toEqual([])
})

describe('the document and the routes', () => {
  const documented = () => gateway.gateway.app.routes.filter(({ hooks }) => hooks.detail?.hide !== true)

  test('each visible route is an operation of the document', () => {
    const names = documented().flatMap(({ method, path, hooks }) => {
      const paths = path.includes('*') ? Object.keys(hooks.detail?.['x-described-paths'] ?? {}) : [path]
      return paths.map((name) => `${method.toLowerCase()} ${name.replace(/(?<=\/):(\w+)/g, '{$1}').replace(/\/$/, '')}`)
    })
    expect(names.length).toBeGreaterThan(80)
    expect(operations.map(({ name }) => name).sort()).toEqual(names.sort())
  })

  test('each titled schema and each body example is in the document', () => {
    const titles = new Set<string>()
    const examples = new Set<string>()
    for (const { hooks } of documented()) {
      const { detail, body, response, query, params } = hooks
      const whole = JSON.parse(JSON.stringify([detail, body, response, query, params]))
      walkSchemas(whole, ({ title }) => typeof title === 'string' && titles.add(title))
      for (const [, summary = ''] of JSON.stringify(whole).matchAll(/\{"summary":("[^"]+"),"value":/g))
        examples.add(summary)
    }
    expect([titles.size > 30, examples.size >= 5]).toEqual([true, true])
    const { schemas } = JSON.parse(text).components
    expect([...titles].filter((title) => !(title in schemas))).toEqual([])
    expect([...examples].filter((summary) => !text.includes(`"summary":${summary},"value":`))).toEqual([])
  })
})

test('the document does not depend on earlier requests', async () => {
  const { app } = gateway.gateway
  for (const route of app.routes) route.compile()
  const later = await openApiDocument({
    routes: () => app.routes,
    isInternal: true,
    name: JSON.parse(text).info.title,
    version: JSON.parse(text).info.version,
    publicUrl: undefined,
    errorFormat: chatCompletions,
    sessionCookie: JSON.parse(text).components.securitySchemes.session.name,
  })
  const bare = (document: string) => document.replaceAll(/model-for-example:[a-z,-]*|svc\/alpha|an?-[a-z]+-model/g, 'M')
  expect(bare(JSON.stringify(later))).toBe(bare(text))
})

test('an unchanged document is answered with 304, in each encoding', async () => {
  const first = await fetch(`${gateway.url}/docs/json?internal=true`, { headers: { 'accept-encoding': 'br' } })
  const tag = first.headers.get('etag') ?? ''
  expect(tag).toMatch(/^W\/"\w+"$/)
  const again = await fetch(`${gateway.url}/docs/json?internal=true`, { headers: { 'if-none-match': tag } })
  expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, tag, ''])
  for (const name of ['cache-control', 'vary', 'access-control-allow-origin'])
    expect(again.headers.get(name)).toBe(first.headers.get(name))
  const other = await fetch(`${gateway.url}/docs/json?internal=true`, { headers: { 'if-none-match': 'W/"other"' } })
  expect([other.status, (await other.text()) === text]).toEqual([200, true])
})

test('the document has the product’s version, and is sent compressed', async () => {
  const { version } = await Bun.file(join(ROOT, 'package.json')).json()
  expect(JSON.parse(text).info.version).toBe(version)
  const size = (await (await fetch(`${gateway.url}/docs/json`)).text()).length
  expect(size).toBeLessThan(MAX_BYTES)
  for (const encoding of ['br', 'gzip', 'identity']) {
    const request = { headers: { 'accept-encoding': encoding }, decompress: false }
    const response = await fetch(`${gateway.url}/docs/json`, request)
    expect(response.headers.get('content-encoding') ?? 'identity').toBe(encoding)
    expect(response.headers.get('vary')).toBe('accept-encoding')
    const { length } = await response.bytes()
    expect(length).toBeLessThan(encoding === 'identity' ? MAX_BYTES : MAX_TRANSFER_BYTES)
  }
})

function schemaOf(content: JsonObject | undefined): JsonObject | undefined {
  const [media] = Object.values(content ?? {})
  const schema = isJsonObject(media) ? media.schema : undefined
  return isJsonObject(schema) && Object.keys(schema).length > 0 ? schema : undefined
}

/** Calls `visit` for everything that has the look of a schema, wherever it stands. */
function walkSchemas(value: JsonValue | undefined, visit: (schema: JsonObject) => void): void {
  if (Array.isArray(value)) for (const inner of value) walkSchemas(inner, visit)
  if (!isJsonObject(value)) return
  if (typeof value.type === 'string' || Array.isArray(value.anyOf)) visit(value)
  for (const inner of Object.values(value)) walkSchemas(inner, visit)
}
