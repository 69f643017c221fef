/** Tags, app and end user of requests through a whole gateway: read from headers and bodies, booked, and sent to no provider. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  FORMATS,
  type FormatName,
  type ScriptedModels,
  soundAnswer,
  startScriptedModels,
} from '@test/gateway/scripted-models'
import { untilSeldom } from '@test/support/until'
import type { UpstreamCall } from '@test/support/upstream'

const SAID = {
  'x-svc-tags': 'team=search,env=prod,Bad=one',
  'http-referer': 'https://app.example/some/page',
  'x-openrouter-title': 'My App',
}
/** How each format names the end user, where it does. */
const END_USERS: Record<FormatName, Record<string, unknown> | undefined> = {
  'chat-completions': { safety_identifier: 'ada@example.test' },
  messages: { metadata: { user_id: 'ada@example.test' } },
  responses: { user: 'ada@example.test' },
  'generate-content': undefined,
}

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

type Row = { tags: string[] | null; app: string | null; end_user: string | null; member_id: string | null }

async function booked(requestId: string | null): Promise<Row> {
  const { sql } = world.gateway.gateway.database
  const look = async () => {
    const [row] = await sql<Row[]>`
      SELECT array_to_json(tags) AS tags, app, end_user, member_id FROM usage_records WHERE request_id = ${requestId ?? ''}`
    return row
  }
  return untilSeldom(look, 'the record to be booked')
}

describe.each([...FORMATS])('a caller of %s', (format) => {
  test.each([false, true])('tags, app and end user are booked; streamed: %p', async (stream) => {
    let call: UpstreamCall | undefined
    const model = world.modelWith(format, (asked) => {
      call = asked
      return soundAnswer(format, stream)
    })
    const { response } = await world.ask({ format, model, stream, headers: SAID, body: END_USERS[format] ?? {} })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-tags-ignored')).toBe('Bad')
    const row = await booked(response.headers.get('x-request-id'))
    expect(row).toMatchObject({ tags: ['env=prod', 'team=search'], app: 'My App', member_id: null })
    expect(row.end_user ?? '').toMatch(END_USERS[format] ? /^[0-9a-f]{32}$/ : /^$/)
    const sent = JSON.stringify([...(call?.headers ?? [])])
    for (const word of ['team=search', 'app.example', 'My App', 'x-svc', 'x-openrouter'])
      expect(sent).not.toContain(word)
  })

  test('invalid tags and addresses do not fail the request', async () => {
    const model = world.modelWith(format, () => soundAnswer(format, false))
    for (const tags of ['x', '=', ',,,', 'a=b,'.repeat(200), '\u00e9=\u00e9']) {
      const { response } = await world.ask({ format, model, headers: { 'x-svc-tags': tags, 'http-referer': tags } })
      expect(response.status).toBe(200)
    }
  })
})

test('a request without tags, app and end user books none', async () => {
  const model = world.modelWith('chat-completions', () => soundAnswer('chat-completions', false))
  const { response } = await world.ask({ format: 'chat-completions', model })
  expect(response.headers.has('x-svc-tags-ignored')).toBe(false)
  const row = await booked(response.headers.get('x-request-id'))
  expect(row).toEqual({ tags: null, app: null, end_user: null, member_id: null })
})
