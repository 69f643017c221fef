/** Cache keys of prompts: two accounts with the same key get different keys at the provider, in every pair of formats. */
import { expect, test } from 'bun:test'
import { requestWith, traitsWith } from '@test/formats/responses/support'
import type { FormatName } from '@/chat/format-name'
import { FORMATS } from '@/formats/index'
import type { JsonObject, JsonValue } from '@/lib/json'

const CALLERS: [FormatName, JsonObject][] = [
  ['chat-completions', { messages: [{ role: 'user', content: 'Hi' }] }],
  ['responses', { input: 'Hi' }],
]
const GIVEN = 'support-bot'

function told(
  name: FormatName,
  says: JsonObject,
  accountId: string,
  isOwnFormat: boolean,
  ...quirks: string[]
): JsonValue | undefined {
  const format = FORMATS.get(name)
  const body = { model: 'svc/alpha', ...says }
  const traits = { ...traitsWith(), accountId, quirks: new Set(quirks) }
  const request = format?.decodeRequest(body, {})
  if (!format || !request) throw new Error(`there is a codec for ${name}`)
  const sent = isOwnFormat
    ? format.passThrough.request(body, request, traits)
    : format.encodeRequest(request, traits).body
  return sent.prompt_cache_key
}

test.each(CALLERS)(
  'the cache key sent to a provider is the same within an account, and differs between accounts: %s',
  (name, says) => {
    const named = { ...says, prompt_cache_key: GIVEN }
    const all = ['acc_1', 'acc_1', 'acc_2'].flatMap((id) => [told(name, named, id, true), told(name, named, id, false)])
    const [first] = all
    expect(all.slice(0, 4)).toEqual([first, first, first, first] as JsonValue[])
    expect(all[4]).toBe(all[5] as string)
    expect(all[4]).not.toBe(first as string)
    expect(first).toMatch(/^[0-9a-f]{40}$/)
    expect(told(name, { ...says, prompt_cache_key: 'another' }, 'acc_1', true)).not.toBe(first as string)
  },
)

test.each(CALLERS)("no cache key is sent without the caller's own: %s", (name, says) => {
  for (const none of [{}, { prompt_cache_key: null }]) {
    expect(told(name, { ...says, ...none }, 'acc_1', true) ?? undefined).toBeUndefined()
    expect(told(name, { ...says, ...none }, 'acc_1', false)).toBeUndefined()
  }
})

test.each(CALLERS)("without a caller's cache key, a provider that needs one gets the account’s: %s", (name, says) => {
  const own = (account: string, isOwnFormat: boolean, given: JsonObject = {}) =>
    told(name, { ...says, ...given }, account, isOwnFormat, 'account-cache-key')
  const first = own('acc_1', true)
  expect(first).toMatch(/^[0-9a-f]{40}$/)
  expect([own('acc_1', true), own('acc_1', false)]).toEqual([first, first] as JsonValue[])
  expect(own('acc_2', true)).not.toBe(first as string)
  // What the caller names is not lost: another conversation has another.
  expect(own('acc_1', true, { prompt_cache_key: GIVEN })).toBe(
    told(name, { ...says, prompt_cache_key: GIVEN }, 'acc_1', true) as string,
  )
})

test('every format with a cache key field sends it for callers of all formats', () => {
  const sent = [...FORMATS.values()].map((format) =>
    format.encodeRequest(requestWith({ cacheKey: GIVEN }), traitsWith()),
  )
  const keys = sent.map(({ body }) => body.prompt_cache_key).filter((key) => key !== undefined)
  expect(keys).toHaveLength(2)
  expect(new Set(keys).size).toBe(1)
  expect(JSON.stringify(sent.map(({ body }) => body))).not.toContain(GIVEN)
})
