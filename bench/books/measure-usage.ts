/** Measures `GET /v1/usage` through a whole gateway, and the history query behind it alone. */
import { startGateway } from '@test/support/gateway'
import { sightOfKey } from '@/accounts/members/memberships'
import { connectDatabase } from '@/db/client'
import type { Ledger } from '@/ledger/ledger'
import type { AccountBalance } from '@/ledger/outcomes'
import { nano } from '@/lib/money'
import { createReports } from '@/usage/reports'
import { accountIdOf, keyIdOf, type Size, type Stores } from './fill'
import { percentile, print } from './print'

type UsageFigures = {
  historyQueryP50Ms: number
  historyQueryP99Ms: number
  usageP50Ms: number
  usageP99Ms: number
}

const QUERIES = 3_000
const WARM_UP = 200
const KEYS = 300
const REQUESTS = 3_000

/** One request after another, each for an account drawn at random. The ledger knows no recent charges: the worst case. */
export async function measureUsage(stores: Stores, size: Size): Promise<UsageFigures> {
  const query = await timeHistory(stores, size)
  const request = await timeRequests(stores, size)
  print(`  /v1/usage ${percentile(request, 0.5).toFixed(2)} ms`)
  return {
    historyQueryP50Ms: percentile(query, 0.5),
    historyQueryP99Ms: percentile(query, 0.99),
    usageP50Ms: percentile(request, 0.5),
    usageP99Ms: percentile(request, 0.99),
  }
}

async function timeHistory({ databaseUrl }: Stores, { accounts }: Size): Promise<number[]> {
  const database = connectDatabase(databaseUrl)
  const none = nano(0)
  const balance: AccountBalance = {
    available: none,
    held: none,
    spent: none,
    spentThisMonth: none,
    status: 'active',
    seq: 1,
  }
  const ledger = { readBalance: async () => balance, recentRecords: async () => [] } as unknown as Ledger
  const reports = createReports(database, ledger, (key) => sightOfKey(database, key))
  const times: number[] = []
  let entries = 0
  for (let index = 0; index < QUERIES + WARM_UP; index++) {
    const startedMs = performance.now()
    const owner = Math.floor(Math.random() * accounts)
    const summary = await reports.usageSummary({ accountId: accountIdOf(owner), keyId: keyIdOf(owner) })
    if (index >= WARM_UP) times.push(performance.now() - startedMs)
    entries += summary?.recentUsage.length ?? 0
  }
  await database.close()
  if (entries === 0) throw new Error('the history gave nothing')
  return times
}

async function timeRequests(stores: Stores, { accounts }: Size): Promise<number[]> {
  const gateway = await startGateway({ ...stores, respond: () => new Response(null, { status: 500 }) })
  const keys: string[] = []
  for (let index = 0; index < KEYS; index++) {
    const accountId = accountIdOf(Math.floor(Math.random() * accounts))
    const created = await gateway.apiKeys.create({ accountId, name: 'bench' })
    if (created.kind === 'created') keys.push(created.key)
  }
  const times: number[] = []
  const ask = async (key: string | undefined) => {
    const response = await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })
    await response.text()
    if (response.status !== 200) throw new Error(`/v1/usage answered ${response.status}`)
  }
  for (const key of keys) await ask(key)
  for (let index = 0; index < REQUESTS; index++) {
    const startedMs = performance.now()
    await ask(keys[index % keys.length])
    times.push(performance.now() - startedMs)
  }
  await gateway.stop()
  return times
}
