/** A month of usage for pictures: made up, but added up by the same code that books real charges. */
import type { Customer } from '@test/support/gateway'
import { ZERO_USAGE } from '@/chat/usage'
import { connectDatabase } from '@/db/client'
import type { UsageRecord } from '@/ledger/usage-record'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'

const DAYS = 30
const DAY_MS = 86_400_000
const BUSY_DAY = 42
const QUIET_DAY = 12
const ERROR_EVERY = 29

/** Models with their share of the traffic and nano-USD per input and output token. */
const MODELS = [
  { id: 'svc/alpha', share: 0.5, input: 2_500, output: 10_000, speed: 70 },
  { id: 'svc/beta', share: 0.2, input: 5_000, output: 25_000, speed: 45 },
  { id: 'svc/gamma', share: 0.3, input: 300, output: 2_500, speed: 160 },
] as const

/** Books the month before today for the customer. The same every time. */
export async function bookMonth(databaseUrl: string, { accountId, keyId }: Omit<Customer, 'key'>): Promise<void> {
  const database = connectDatabase(databaseUrl, { maxConnections: 1 })
  await database.sql`SELECT ensure_usage_partitions((now() - interval '2 months')::date, 4)`
  const random = createRandom(7)
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const records: UsageRecord[] = []
  for (let day = DAYS; day >= 1; day--) {
    const atMs = today - day * DAY_MS
    const isWeekend = [0, 6].includes(new Date(atMs).getUTCDay())
    const count = Math.round((isWeekend ? QUIET_DAY : BUSY_DAY) * (0.7 + 0.6 * random()))
    for (let index = 0; index < count; index++) {
      const moment = atMs + Math.floor(random() * DAY_MS)
      records.push(recordAt(moment, records.length, { accountId, keyId }, random))
    }
  }
  await writeUsageBatch(database.sql, records)
  await database.close()
}

function recordAt(atMs: number, index: number, payer: Omit<Customer, 'key'>, random: () => number): UsageRecord {
  const model = pick(random())
  const isError = index % ERROR_EVERY === ERROR_EVERY - 1
  const uncached = Math.round(200 + random() ** 3 * 12_000)
  const output = Math.round(40 + random() ** 2 * 1_800)
  const firstTokenMs = Math.round(180 + random() * 600)
  const holdId = `hold_picture${index}`
  return {
    ...payer,
    ...{ recordId: holdId, holdId, kind: 'settle', seq: 0, atMs, flags: [] },
    cost: nano(uncached * model.input + output * model.output),
    held: nano(100_000_000),
    facts: {
      requestId: `req_picture${index}`,
      model: model.id,
      requestedModel: index % 5 === 0 ? 'auto-smart' : model.id,
      provider: 'provider1',
      upstreamModel: `${model.id.slice(4)}-upstream`,
      clientFormat: 'chat-completions',
      providerFormat: 'chat-completions',
      usage: { ...ZERO_USAGE, uncached, output },
      rule: isError ? 'broken_usage' : 'usage',
      flags: [],
      stream: true,
      status: isError ? 502 : 200,
      attempts: isError ? 3 : 1,
      routeReason: index % 5 === 0 ? 'chosen: smart' : 'requested',
      startedAtMs: atMs - 1000,
      firstTokenMs,
      durationMs: firstTokenMs + Math.round((output / model.speed) * 1000),
    },
  }
}

function pick(random: number) {
  let sum = 0
  for (const model of MODELS) {
    sum += model.share
    if (random < sum) return model
  }
  return MODELS[0]
}

/** A small generator with a seed: pictures that change only when the pages do. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
