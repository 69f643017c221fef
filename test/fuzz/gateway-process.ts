/** Started by world.ts: a gateway with a sound provider of each format and five users, that tells how it fares. */

import { heapStats } from 'bun:jsc'
import { compatibleAnswer, sellEmbeddings } from '@test/gateway/embed/providers'
import { FORMATS, soundAnswer } from '@test/gateway/scripted-models'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { stopStores } from '@test/support/stores'
import type { UpstreamCall } from '@test/support/upstream'
import { ask, signUpCustomer } from '@test/usage/customer'
import { assert } from '@/lib/assert'
import { storeConversations } from './long-conversations'
import { watchLoop } from './loop-watch'
import { SIGNED_WORDS, SLOTS, signedAnswer, startProvider } from './provider'
import type { FuzzUser, Vitals } from './world'

const USERS = 5
const PASSWORD = 'a canary on a battery'

function respond(call: UpstreamCall): Response {
  const { path, body, text } = call
  if (path.endsWith('/embeddings')) return compatibleAnswer(call)
  if (text.includes(SIGNED_WORDS)) return signedAnswer()
  const format = FORMATS.find((name) => path.startsWith(`/${name}/`)) ?? 'chat-completions'
  return soundAnswer(format, body.stream === true || path.includes('streamGenerateContent'))
}

async function startTarget(): Promise<TestGateway> {
  const { url: patientUrl } = await startProvider()
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
    await storeConversations(gateway.gateway.database, accountId)
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
