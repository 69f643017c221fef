/** Requests with idempotency keys, in all formats, and what an account has paid for them. */
import type { Customer, TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'

export const FORMATS = ['chat-completions', 'messages', 'generate-content'] as const
type FormatName = (typeof FORMATS)[number]

type Wish = {
  /** Another gateway's address. */
  url?: string
  key: string
  idempotencyKey: string
  format?: FormatName
  stream?: boolean
  model?: string
  prompt?: string
  signal?: AbortSignal
}

/** Sends a request with an idempotency key. */
export function send(gateway: TestGateway, wish: Wish): Promise<Response> {
  const { url = gateway.url, key, idempotencyKey, signal } = wish
  const [path, body] = requestOf(wish)
  return fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'Idempotency-Key': idempotencyKey },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
}

function requestOf({ format = 'chat-completions', stream = false, model = 'svc/alpha', prompt = 'Hi' }: Wish) {
  const messages = [{ role: 'user', content: prompt }]
  if (format === 'chat-completions') return ['/v1/chat/completions', { model, messages, stream, max_tokens: 100 }]
  if (format === 'messages') return ['/v1/messages', { model, messages, stream, max_tokens: 100 }]
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return [`/v1beta/models/${model}:${verb}`, { contents: [{ role: 'user', parts: [{ text: prompt }] }] }]
}

/** What the account has paid, once nothing of it is held any more, and how many usage records say so. */
export async function settledBalance(gateway: TestGateway, { accountId }: Customer) {
  const balance = await until(async () => {
    const now = await gateway.balance(accountId)
    return now.held === 0 && now
  }, 'the holds to end')
  return { spent: balance.spent as number, records: balance.seq }
}

/** The code of an error, wherever the caller's format has it. */
export async function codeOf(response: Response): Promise<string | undefined> {
  const text = await response.text()
  return /"(?:code|error_code|reason)":"([a-z_]+)"/i.exec(text)?.[1]?.toLowerCase()
}
