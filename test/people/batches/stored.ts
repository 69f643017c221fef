/** Batches in states that a test chooses, which no gateway runs. */
import type { TestGateway } from '@test/support/gateway'

type Line = { customId: string; state: 'waiting' | 'succeeded' | 'errored' | 'canceled' | 'expired'; body?: object }

type Stored = {
  accountId: string
  keyId: string
  /** The member whose key made it. */
  madeBy?: string
  endpoint?: string
  status?: 'in_progress' | 'cancelling' | 'completed' | 'cancelled' | 'expired'
  paused?: 'no_credit' | 'key_disabled' | 'storage_full'
  lines?: readonly Line[]
}

const COUNTED = ['succeeded', 'errored', 'canceled', 'expired'] as const
const SUCCESS = 200
const REFUSAL = 400

/** Writes a batch and returns its id. It has cost 12 cents, and may cost 3.40 USD. */
export async function storeBatch({ gateway }: Pick<TestGateway, 'gateway'>, stored: Stored): Promise<string> {
  const { sql } = gateway.database
  const { accountId, keyId, madeBy = null, endpoint = '/v1/messages', lines = [], paused = null } = stored
  const { status = 'completed' } = stored
  const id = `${endpoint === '/v1/messages' ? 'msgbatch' : 'batch'}_${crypto.randomUUID().replaceAll('-', '').slice(0, 22)}`
  const counts = COUNTED.map((state) => lines.filter((line) => line.state === state).length)
  const [succeeded = 0, errored = 0, canceled = 0, expired = 0] = counts
  const hasEnded = status !== 'in_progress' && status !== 'cancelling'
  await sql`INSERT INTO batches (id, account_id, key_id, made_by, endpoint, status, headers, client_address, models, total,
      succeeded, errored, canceled, expired, cost_nano, most_nano, paused, paused_message, due_at, ends_at, ended_at, expires_at)
    VALUES (${id}, ${accountId}, ${keyId}, ${madeBy}, ${endpoint}, ${status}, '{}', '127.0.0.1', '{svc/alpha}', ${lines.length},
      ${succeeded}, ${errored}, ${canceled}, ${expired}, 120000000, 3400000000, ${paused}, ${paused}, now() + interval '1 day',
      now() + interval '20 hours', CASE WHEN ${hasEnded} THEN now() END, now() + interval '30 days')`
  for (const [place, { customId, state, body }] of lines.entries()) {
    const code = state === 'succeeded' ? SUCCESS : state === 'errored' ? REFUSAL : null
    await sql`INSERT INTO batch_lines (batch_id, place, custom_id, state, request, due_at, status, request_id, result)
      VALUES (${id}, ${place}, ${customId}, ${state}, ${state === 'waiting' ? '{}' : null}, now() + interval '1 day', ${code},
        ${code === null ? null : `req_${place}`}, ${body === undefined ? null : JSON.stringify(body)})`
  }
  return id
}
