/** The OpenAPI document made from the swagger plugin's output: nothing lost, each schema once, and readable. */
import { expect, test } from 'bun:test'
import { swagger } from '@elysiajs/swagger'
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { chatCompletions } from '@/formats/chat-completions/index'
import { type GeneratedDocument, refineDocument } from '@/http/openapi/refine'
import { titled } from '@/http/openapi/titled'
import type { JsonObject } from '@/lib/json'

const TAGS = [{ name: 'First' }, { name: 'Last' }]

/** The document of the routes of `app`, from the plugin and refined. */
async function documentOf(app: Elysia): Promise<{ paths: Paths; components: Record<string, JsonObject> }> {
  const generator = new Elysia().use(app).use(swagger({ documentation: { tags: TAGS } }))
  const generated = await generator.handle(new Request('http://localhost/swagger/json'))
  const refined = refineDocument((await generated.json()) as GeneratedDocument, chatCompletions)
  return JSON.parse(JSON.stringify(refined))
}

type Paths = Record<string, Record<string, JsonObject & { responses: Record<string, JsonObject> }>>

function route(options: object, path = '/things'): Elysia {
  return new Elysia().post(path, () => 'done', { tags: ['First'], ...options }) as unknown as Elysia
}

test('route schemas become one JSON schema, including parts of answers that the plugin omits', async () => {
  const NewThing = Type.Object({ name: Type.String() }, { additionalProperties: false, description: 'A new thing' })
  const Thing = Type.Object({ id: Type.String() }, { title: 'Thing', description: 'A thing', minProperties: 1 })
  const { paths, components } = await documentOf(route({ body: NewThing, response: Thing }))
  expect(paths['/things']?.post?.requestBody).toEqual({
    required: true,
    content: { 'application/json': { schema: JSON.parse(JSON.stringify(NewThing)) } },
  })
  expect(paths['/things']?.post?.responses[200]).toEqual({
    description: 'Success',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
  })
  expect(components.schemas).toEqual({ Thing: JSON.parse(JSON.stringify(Thing)) })
})

test('an operation’s own body description is kept in the OpenAPI document', async () => {
  const content = { 'text/csv': { schema: { type: 'string' } } }
  const requestBody = { content: { 'application/json': { schema: titled('Wish', {}), examples: { a: { value: 1 } } } } }
  const { paths } = await documentOf(
    route({ detail: { requestBody, responses: { 200: { description: 'A table', content } } } }),
  )
  expect(paths['/things']?.post).toMatchObject({
    requestBody: {
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Wish' }, examples: { a: { value: 1 } } } },
    },
    responses: { 200: { description: 'A table', content } },
  })
})

test('documented parameters are those of path and query, with their examples', async () => {
  const Query = Type.Object({ limit: Type.Optional(Type.String({ description: 'At most', examples: ['5'] })) })
  const { paths } = await documentOf(route({ query: Query }, '/things/:id/parts/'))
  expect(paths['/things/{id}/parts']?.post).toMatchObject({
    operationId: 'postThingsByIdParts',
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      {
        name: 'limit',
        in: 'query',
        required: false,
        description: 'At most',
        schema: { type: 'string', examples: ['5'] },
      },
    ],
  })
})

test('documented statuses without a description get the common one, including those of validation', async () => {
  const errors = { 'x-errors': [401, 401] } as object
  const Query = Type.Object({ limit: Type.Optional(Type.String()) })
  const app = route({ body: Type.Object({}), detail: errors })
    .use(route({ query: Query, detail: errors }, '/queries'))
    .use(route({ detail: errors }, '/bare'))
    .use(route({ query: Query, detail: { responses: { 401: {}, 200: { description: 'Done' } } } }, '/own'))
  const { paths, components } = await documentOf(app as unknown as Elysia)
  const failures = (path: string) => Object.keys(paths[path]?.post?.responses ?? {}).filter((status) => status >= '400')
  expect(['/things', '/queries', '/bare', '/own'].map(failures)).toEqual([
    ['400', '401', '413', '415'],
    ['400', '401'],
    ['401'],
    ['401'],
  ])
  expect(paths['/things']?.post?.responses[401]).toEqual(paths['/own']?.post?.responses[401] as JsonObject)
  expect(paths['/things']?.post?.responses[401]).toEqual({ $ref: '#/components/responses/ChatCompletionError401' })
  expect(components.responses?.ChatCompletionError401).toMatchObject({
    description: expect.stringContaining('API key'),
    headers: { 'x-request-id': { $ref: '#/components/headers/x-request-id' } },
  })
  expect(JSON.stringify(paths)).not.toContain('x-errors')
})

test('documented operations are ordered by tag, and list each credential once', async () => {
  const security = [{ session: [] }]
  const app = route({ tags: ['Last'], detail: { security: [...security, ...security] } }, '/last').use(route({}))
  const { paths } = await documentOf(app as unknown as Elysia)
  expect(Object.keys(paths)).toEqual(['/things', '/last'])
  expect(paths['/last']?.post?.security).toEqual(security)
})

test('the document that is sent does not depend on earlier requests', async () => {
  const Thing = titled('Thing', { id: Type.String() })
  const one = new Elysia().get('/one', () => ({ id: '1' }), { tags: ['First'], response: Thing })
  const app = one.get('/all', () => [], { tags: ['First'], response: Type.Array(Thing) }) as unknown as Elysia
  const before = await documentOf(app)
  expect((await app.handle(new Request('http://localhost/one'))).status).toBe(200)
  // The router has closed the schema meanwhile.
  expect(Thing.additionalProperties as unknown).toBe(false)
  expect(await documentOf(app)).toEqual(before)
})
