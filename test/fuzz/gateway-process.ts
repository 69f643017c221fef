/** Started by world.ts: a gateway with a sound provider of each format and five users, that tells how it fares. */
import { heapStats } from 'bun:jsc'
import { FORMATS, soundAnswer } from '@test/gateway/scripted-models'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { stopStores } from '@test/support/stores'
import type { UpstreamCall } from '@test/support/upstream'
import { ask, signUpCustomer } from '@test/usage/customer'
import { assert } from '@/lib/assert'
import { watchLoop } from './loop-watch'
import type { FuzzUser, Vitals } from './world'

const USERS = 5
const PASSWORD = 'a canary on a battery'

function respond({ path, body }: UpstreamCall): Response {
  const format = FORMATS.find((name) => path.startsWith(`/${name}/`)) ?? 'chat-completions'
  return soundAnswer(format, body.stream === true || path.includes('streamGenerateContent'))
}

function startTarget(): Promise<TestGateway> {
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
    },
  })
}

function secretOf(format: string): string {
  return `sk-fuzz-canary-of-${format}`
}

async function createUser(gateway: TestGateway): Promise<FuzzUser> {
  const { person, accountId, key, keyId } = await signUpCustomer(gateway, '1000', { password: PASSWORD })
  const requestId = await ask(gateway, key)
  const spare = await gateway.apiKeys.create({ accountId, name: 'spare' })
  assert(spare.kind === 'created', 'the account exists')
  const order = await person.json('POST', '/dashboard/api/orders', { method: 'bank_transfer', amountUsd: '25' })
  const { orderId } = order.body as { orderId: string }
  const { cookie, viewer } = person
  return { key, keyId, spareKeyId: spare.keyId, cookie, accountId, orderId, requestId, sessionId: viewer.sessionId }
}

const gateway = await startTarget()
const users: FuzzUser[] = []
for (let index = 0; index < USERS; index++) users.push(await createUser(gateway))
const secrets = [...FORMATS.map(secretOf), 'sk-provider1-secret-canary', PASSWORD]
const inLogs = [...secrets, ...users.flatMap(({ key, cookie }) => [key, cookie.split('=', 2)[1] ?? cookie])]
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

process.on('message', async (question) => {
  if (question === 'vitals') process.send?.(vitals())
  else {
    await gateway.stop()
    await stopStores()
    process.exit(0)
  }
})
process.send?.({ url: gateway.url, users, secrets })
