/** A gateway of its own on the world's stores, for bad neighbours: what they ask of it is sold, and its limits are the usual ones. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { NeighbourUser } from '@test/fuzz/annoyance'
import { storeConversations } from '@test/fuzz/long-conversations'
import type { Neighbourhood } from '@test/fuzz/neighbours'
import { SLOTS, startProvider } from '@test/fuzz/provider'
import { cookieOf } from '@test/support/person'
import { NANO_PER_USD } from '@/lib/money'
import { UPSTREAM_SECRET } from './catalog-file'
import type { World } from './world'

const PASSWORD = 'a neighbour on a battery'
const CREDIT_USD = 1_000
const PRICING = { inputPer1mTokens: 1, outputPer1mTokens: 2 }

/** Starts it, with a customer of its own. `peakBytes` is the most memory that it was seen to take. */
export async function openNeighbourhood(world: World) {
  const { bank } = world
  const provider = await startProvider()
  const catalog = join(world.folder, 'neighbours.json')
  await writeFile(catalog, catalogText(provider.url))
  const gateway = world.spare('neighbourhood')
  await gateway.start({ CATALOG: catalog, SIGN_UP: 'open' })
  let peakBytes = 0
  const watching = setInterval(async () => {
    const { residentBytes } = await gateway.footprint().catch(() => ({ residentBytes: 0 }))
    peakBytes = Math.max(peakBytes, residentBytes)
  }, 250)

  async function user(hasConversations: boolean): Promise<NeighbourUser> {
    const response = await fetch(`${gateway.url}/dashboard/api/session/sign-up`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: gateway.url },
      body: JSON.stringify({ email: `${crypto.randomUUID()}@example.test`, password: PASSWORD, name: 'Neighbour' }),
    })
    const cookie = cookieOf(response)
    const me = await fetch(`${gateway.url}/dashboard/api/session/me`, { headers: { cookie } })
    const { accountId } = (await me.json()) as { accountId: string }
    await bank.payIn(accountId, CREDIT_USD * NANO_PER_USD)
    const [own, spare] = [await keyOf(accountId), await keyOf(accountId)]
    if (hasConversations) await storeConversations(bank.database, accountId)
    return { accountId, key: own.key, spareKeyId: spare.keyId, cookie }
  }

  async function keyOf(accountId: string): Promise<{ key: string; keyId: string }> {
    const created = await bank.apiKeys.create({ accountId, name: 'neighbour' })
    if (created.kind !== 'created') throw new Error('the account exists')
    return created
  }

  const neighbourhood: Neighbourhood = {
    world: { url: gateway.url, users: [await user(false)] },
    vitals: () => Promise.resolve({ stallMs: 0 }),
    customer: async (usd) => (await bank.customer(Number(usd))).key,
    user,
  }
  return {
    neighbourhood,
    peakBytes: () => peakBytes,
    async close() {
      clearInterval(watching)
      gateway.signal('SIGTERM')
      await gateway.exited()
      provider.stop()
    },
  }
}

function catalogText(url: string): string {
  const common = { created: 1_760_000_000, ownedBy: 'patient', pricing: PRICING, contextLength: 128_000 }
  const sold = (id: string, provider: string) => ({
    ...{ ...common, id: `svc/${id}`, name: id, maxOutputTokens: 4_096, capabilities: ['tools'] },
    targets: [{ provider, model: 'upstream' }],
  })
  const providerOf = (format: string, baseUrl: string) => ({
    ...{ format, baseUrl, keys: [UPSTREAM_SECRET], maxConcurrency: SLOTS },
  })
  return JSON.stringify({
    service: 'svc',
    providers: { patient: providerOf('chat-completions', `${url}/v1`), signing: providerOf('messages', url) },
    models: [
      ...['alpha', 'patient', 'responses'].map((id) => sold(id, 'patient')),
      sold('messages', 'signing'),
      {
        ...{ ...common, id: 'svc/vectors', name: 'vectors', kind: 'embedding', pricing: { inputPer1mTokens: 1 } },
        ...{ contextLength: 8_192, targets: [{ provider: 'patient', model: 'upstream' }] },
      },
    ],
    tiers: [],
    limits: { requestsPerMinute: 6_000, tokensPerMinute: 1_000_000_000, concurrency: 200 },
  })
}
