/** Started by world.ts: a gateway with a sound provider of each format and five users, that tells how it fares. */

import { heapStats } from 'bun:jsc'
import { join } from 'node:path'
import { compatibleAnswer, sellEmbeddings } from '@test/gateway/embed/providers'
import { FORMATS, soundAnswer } from '@test/gateway/scripted-models'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { stopStores } from '@test/support/stores'
import type { UpstreamCall } from '@test/support/upstream'
import { ask, signUpCustomer } from '@test/usage/customer'
import { assert } from '@/lib/assert'
import { watchLoop } from './loop-watch'
import { SIGNED_WORDS } from './provider-words'
import type { FuzzUser, Vitals } from './world'

const USERS = 5
/** Of the provider that all neighbours share. */
const SLOTS = 120
const PASSWORD = 'a canary on a battery'
const PROVIDER = join(import.meta.dir, 'patient-provider.ts')

let signed = 0

/** An answer that calls a tool, after a long thought that its history has to bring back. */
function signedAnswer(): Response {
  const content = [
    { type: 'thinking', thinking: 'So it goes. '.repeat(20_000), signature: 'proof' },
    { type: 'tool_use', id: `toolu_${signed++}`, name: 'f', input: {} },
  ]
  const usage = { input_tokens: 9, output_tokens: 9 }
  const answer = { id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream', content, usage }
  return Response.json({ ...answer, stop_reason: 'tool_use', stop_sequence: null })
}

function respond(call: UpstreamCall): Response {
  const { path, body, text } = call
  if (path.endsWith('/embeddings')) return compatibleAnswer(call)
  if (text.includes(SIGNED_WORDS)) return signedAnswer()
  const format = FORMATS.find((name) => path.startsWith(`/${name}/`)) ?? 'chat-completions'
  return soundAnswer(format, body.stream === true || path.includes('streamGenerateContent'))
}

/** Resolves to where it listens. It ends with this process. */
function startProvider(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const onExit = () => reject(new Error('the provider did not start'))
  Bun.spawn(['bun', PROVIDER], { stdio: ['ignore', 'inherit', 'inherit'], ipc: (url: string) => resolve(url), onExit })
  return promise
}

async function startTarget(): Promise<TestGateway> {
  const patientUrl = await startProvider()
  return startGateway({
    respond,
    catalog(file) {
      const root = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      const [alpha] = file.models
      for (const format of FORMATS) {
        const base = `${root}/${format}${format === 'chat-completions' ? '/v1' : ''}`
        file.providers[format] = { format, baseUrl: base, keys: [secretOf(format)] }
        file.models.push({ ...alpha, id: `svc/${format}`, targets: [{ provider: format, model: 'upstream' }] })
      }
      sellEmbeddings(file)
      const patient = { ...file.providers['chat-completions'], baseUrl: `${patientUrl}/v1`, maxConcurrency: SLOTS }
      file.providers.patient = patient
      const embed = file.models.find(({ id }) => id === 'svc/embed')
      file.models.push({ ...embed, id: 'svc/vectors', targets: [{ provider: 'patient', model: 'upstream' }] })
      file.models.push({ ...alpha, id: 'svc/patient', targets: [{ provider: 'patient', model: 'upstream' }] })
    },
  })
}

async function storeInput(account: string, id: string, parent: string | null, input: string, values: number) {
  await gateway.gateway.database.sql`
    INSERT INTO stored_responses
      (account_id, id, key_id, parent_id, model, input, answer, bytes, created_at, expires_at, json_values, input_items, output_items)
    VALUES (${account}, ${id}, 'key', ${parent}, 'svc/responses', ${input},
      '{"output":[]}', ${input.length}, now(), now() + interval '1 day', ${values}, 1, 0)`
}

/** Conversations of as many values as one may have, and of more. */
async function storeValues(accountId: string): Promise<void> {
  for (const [id, count] of [
    ['resp_values', 18_000],
    ['resp_many_values', 30_000],
  ] as const) {
    const items = Array.from({ length: count }, () => ({ type: 'message', role: 'user', content: 'x' }))
    await storeInput(accountId, id, null, JSON.stringify(items), 5 * count)
  }
}

/** A conversation as long as one may be, which a neighbour has others' time wasted with. */
async function storeConversation(accountId: string): Promise<void> {
  const words = 'So it goes on and on. '.repeat(170_000)
  for (let link = 0; link < 4; link++) {
    const input = JSON.stringify([{ type: 'message', role: 'user', id: `msg_${link}`, content: words }])
    await storeInput(accountId, `resp_${link}`, link === 0 ? null : `resp_${link - 1}`, input, 5)
    await gateway.gateway.database.sql`
      INSERT INTO stored_response_items (account_id, item_id, response_id, bytes, place)
      VALUES (${accountId}, ${`msg_${link}`}, ${`resp_${link}`}, ${input.length}, 0)`
  }
}

function secretOf(format: string): string {
  return `sk-fuzz-canary-of-${format}`
}

async function createUser(gateway: TestGateway, hasConversations: boolean): Promise<FuzzUser> {
  const { person, accountId, key, keyId } = await signUpCustomer(gateway, '1000', { password: PASSWORD })
  const requestId = await ask(gateway, key)
  const spare = await gateway.apiKeys.create({ accountId, name: 'spare' })
  assert(spare.kind === 'created', 'the account exists')
  const order = await person.json('POST', '/dashboard/api/a/:accountId/orders', {
    method: 'bank_transfer',
    amountUsd: '25',
  })
  const { orderId } = order.body as { orderId: string }
  const { cookie, viewer } = person
  if (hasConversations) {
    await storeConversation(accountId)
    await storeValues(accountId)
  }
  return { key, keyId, spareKeyId: spare.keyId, cookie, accountId, orderId, requestId, sessionId: viewer.sessionId }
}

const gateway = await startTarget()
const users: FuzzUser[] = []
for (let index = 0; index < USERS; index++) users.push(await createUser(gateway, true))
const secrets = [...FORMATS.map(secretOf), 'sk-provider1-secret-canary', PASSWORD]
const secretsOf = ({ key, cookie }: FuzzUser) => [key, cookie.split('=', 2)[1] ?? cookie]
const inLogs = [...secrets, ...users.flatMap(secretsOf)]
const longestStall = watchLoop()

function alarmsIn(lines: readonly string[]): string[] {
  return lines.filter((line) => line.includes('unexpected_error') || inLogs.some((secret) => line.includes(secret)))
}

function vitals(): Vitals {
  const alarms = alarmsIn(gateway.logLines.splice(0))
  const stallMs = longestStall()
  // The provider of the tests remembers each call with its body, up to 19 MB of it: that isn't the gateway's memory.
  gateway.upstream.calls.length = 0
  Bun.gc(true)
  const told = { stallMs, alarms, heapBytes: heapStats().heapSize, residentBytes: process.memoryUsage().rss }
  // What the collection took is not the gateway's doing.
  longestStall()
  return told
}

process.on('message', async (question: 'vitals' | 'stop' | { usd: string } | { hasConversations: boolean }) => {
  if (question === 'vitals') process.send?.(vitals())
  else if (question !== 'stop' && 'hasConversations' in question) {
    const user = await createUser(gateway, question.hasConversations)
    inLogs.push(...secretsOf(user))
    process.send?.({ user })
  } else if (question !== 'stop') process.send?.({ key: (await gateway.customer(question.usd)).key })
  else {
    await gateway.stop()
    await stopStores()
    process.exit(0)
  }
})
process.send?.({ url: gateway.url, users, secrets })
