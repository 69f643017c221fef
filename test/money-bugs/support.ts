/** What the tests of money bugs share: recorded answers of providers, and what an account has paid. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FormatName, Script } from '@test/gateway/scripted-models'
import type { TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'

const FIXTURES = join(import.meta.dir, '..', 'fixtures')
/** Nano-USD per token of the test catalogue. */
export const PRICE = { input: 1_000, output: 2_000, cacheRead: 100, cacheWrite5m: 1_250 }

/** A provider that gives the recorded answer `name` of its format, as a stream or whole. */
export function recorded(format: FormatName, name: string, stream: boolean): Script {
  const text = readFileSync(join(FIXTURES, format, 'matrix', `${name}.${stream ? 'sse' : 'json'}`), 'utf8')
  return () => new Response(text, { headers: { 'content-type': stream ? 'text/event-stream' : 'application/json' } })
}

/** What the account has spent once nothing of it is open any more. */
export async function spentAtRest(gateway: TestGateway, accountId: string): Promise<number> {
  const balance = await until(async () => {
    const now = await gateway.balance(accountId)
    return now.held === 0 && gateway.gateway.deps.settler.pendingCount() === 0 && now
  }, 'the holds to end')
  return balance.spent
}

/** Runs `work` and returns what it cost the account. */
export async function costOf(gateway: TestGateway, accountId: string, work: () => Promise<unknown>): Promise<number> {
  const before = await spentAtRest(gateway, accountId)
  await work()
  return (await spentAtRest(gateway, accountId)) - before
}

/** Sends a chat request with `body` beside the usual. */
export function chat(
  url: string,
  key: string,
  body: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...body }),
    ...(signal && { signal }),
  })
}
