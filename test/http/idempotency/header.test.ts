/** Valid idempotency keys: one to 255 visible ASCII characters, and no others. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createRandom } from '@test/fuzz/random'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import { readRequestName } from '@/http/idempotency/header'
import { codeOf, FORMATS, send } from './repeated'

const url = 'http://localhost/v1/chat/completions'

/** Whether a key is taken, as far as headers can carry it at all. */
function isTaken(key: string): boolean {
  const request = new Request(url, { method: 'POST', headers: { 'Idempotency-Key': key } })
  try {
    return readRequestName(request, true)?.key === key
  } catch {
    return false
  }
}

test('an idempotency key may have any visible ASCII character, and no other', () => {
  for (let code = 0x01; code <= 0xff; code++) {
    if (code === 0x0a || code === 0x0d) continue
    expect([code, isTaken(`a${String.fromCharCode(code)}b`)]).toEqual([code, code >= 0x21 && code <= 0x7e])
  }
})

test('idempotency keys of up to 255 characters are accepted, longer ones are refused', () => {
  const random = createRandom(1)
  for (let length = 1; length <= 300; length++) {
    const key = Array.from({ length }, () => String.fromCharCode(0x21 + random.below(94))).join('')
    expect([key, isTaken(key)]).toEqual([key, length <= 255])
  }
  expect(isTaken('')).toBe(false)
})

const nameOf = (path: string, body: string) => {
  const headers = { 'idempotency-key': 'x' }
  const name = readRequestName(new Request(`http://localhost${path}`, { method: 'POST', headers }), true)
  name?.ofBody(Buffer.from(body))
  return name?.fingerprint
}

test('requests differ by path, query and body, not by credentials in the URL', () => {
  const same = nameOf('/v1beta/models/a:generateContent', '{}')
  expect(nameOf('/v1beta/models/a:generateContent?key=svc-1', '{}')).toBe(same)
  const others = [
    nameOf('/v1beta/models/b:generateContent', '{}'),
    nameOf('/v1beta/models/a:generateContent?alt=sse&key=svc-1', '{}'),
    nameOf('/v1beta/models/a:generateContent', '{ }'),
  ]
  expect(new Set([same, ...others]).size).toBe(4)
})

let gateway: TestGateway
let silent: TestGateway
beforeAll(async () => {
  const respond = () => Response.json(chatCompletion('Hello'))
  gateway = await startGateway({ respond })
  silent = await startGateway({ respond, environment: { IDEMPOTENCY_KEYS: 'off' } })
})
afterAll(async () => {
  await gateway.stop()
  await silent.stop()
})

test.each(FORMATS)(
  '%s: an invalid idempotency key, or any key if they are turned off, is a 400 before a call',
  async (format) => {
    const { key } = await gateway.customer('1')
    const refused = await send(gateway, { key, idempotencyKey: 'with blank', format })
    expect([refused.status, await codeOf(refused)]).toEqual([400, 'invalid_idempotency_key'])
    expect(gateway.upstream.calls).toHaveLength(0)
    const other = await silent.customer('1')
    const unsupported = await send(silent, { key: other.key, idempotencyKey: 'x', format })
    expect([unsupported.status, await codeOf(unsupported)]).toEqual([400, 'idempotency_unsupported'])
  },
)
