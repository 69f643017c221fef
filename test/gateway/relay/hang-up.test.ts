/**
 * The price of disconnecting: what the provider charges and no more. Before the provider's first byte it is free a
 * few times an hour, then costs the input.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { exactTokens } from '@test/catalog/exact-tokens'
import { FORMATS, type FormatName } from '@test/gateway/scripted-models'
import { piecesOf, questionIn } from '@test/gateway/told-in-pieces'
import { connect } from '@test/ledger/harness'
import { addToStored } from '@test/ledger/store/stored'
import { chat, PRICE, spentAtRest } from '@test/money-bugs/support'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, type LiveStream, liveStream, usageOf } from '@test/support/upstream'
import { FREE_HANG_UPS_PER_HOUR } from '@/ledger/charge'
import { accountName } from '@/ledger/store/names'

/** For answers that come to an end, however late a busy machine has it; and for those that never do. */
const DRAIN_SECONDS = 60
const BRIEF_SECONDS = 1
const FAR_MS = 900_000
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Promise(() => {}),
    catalog(file) {
      const root = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      const [alpha] = file.models
      for (const format of FORMATS) {
        file.providers[format] = {
          ...file.providers.provider1,
          ...{ format, baseUrl: format === 'chat-completions' || format === 'responses' ? `${root}/v1` : root },
          onDisconnect: { policy: 'auto', maxSeconds: DRAIN_SECONDS },
        }
        const cost = { costPer1mInputTokens: 0.5, costPer1mOutputTokens: 1 }
        const targets = [{ provider: format, model: 'x', cost }]
        file.models.push({ ...alpha, id: `svc/thinks-${format}`, targets })
        file.models.push({ ...alpha, id: `svc/plain-${format}`, targets, capabilities: [] })
        const onDisconnect = { policy: 'auto', maxSeconds: BRIEF_SECONDS }
        file.providers[`brief-${format}`] = { ...file.providers[format], onDisconnect }
        const brief = [{ provider: `brief-${format}`, model: 'x', cost }]
        file.models.push({ ...alpha, id: `svc/brief-${format}`, targets: brief })
      }
      // Whoever waits for this one does so for longer than any test.
      file.providers.patient = {
        ...file.providers.provider1,
        timeouts: { connectMs: 10_000, firstByteMs: FAR_MS, idleMs: FAR_MS, totalMs: FAR_MS },
        onDisconnect: { policy: 'auto', maxSeconds: FAR_MS / 1000 },
      }
      const targets = [{ provider: 'patient', model: 'x' }]
      file.models.push({ ...alpha, id: 'svc/patient', targets })
      file.models.push({ ...alpha, id: 'svc/patient-plain', targets, capabilities: [] })
    },
  })
})
afterAll(() => gateway.stop())

type Left = { accountId: string; live: LiveStream }

/** Asks for a stream, has the provider say `before`, and leaves once `sign` has arrived. */
async function leaveAfter(
  format: FormatName,
  model: string,
  { before, sign, limit = 10_000 }: { before: string; sign: string; limit?: number },
): Promise<Left> {
  const { accountId, key } = await gateway.customer('1')
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  live.write(before)
  const controller = new AbortController()
  const response = await ask(format, model, key, { stream: true, limit, signal: controller.signal })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  for (let text = ''; !text.includes(sign); ) text += decoder.decode((await reader.read()).value, { stream: true })
  controller.abort()
  return { accountId, live }
}

function ask(
  format: FormatName,
  model: string,
  key: string,
  { stream, limit, signal }: { stream: boolean; limit: number; signal: AbortSignal },
): Promise<Response> {
  const { path, body } = questionIn(format, model, { stream, limit })
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
}

const wasStopped = () => gateway.upstream.calls.at(-1)?.isAborted ?? false
const THOUGHT = { input: 10, output: 5_020, reasoning: 5_000 }

describe('hidden reasoning after a disconnect', () => {
  test.each(FORMATS)('%s: a client that disconnects with the whole answer pays all reported usage', async (format) => {
    const { texts, stop, usage, end } = piecesOf(format, ['All of ', 'the answer'], THOUGHT)
    const { accountId, live } = await leaveAfter(format, `svc/thinks-${format}`, {
      before: texts.join(''),
      sign: 'the answer',
    })
    live.write(stop + usage + end)
    live.close()
    expect(await spentAtRest(gateway, accountId)).toBe(10 * PRICE.input + 5_020 * PRICE.output)
  })

  test('hidden reasoning is charged once the provider sent its stop reason, for any model', async () => {
    const { texts, stop, usage, end } = piecesOf('chat-completions', ['All of ', 'the answer'], THOUGHT)
    const { accountId, live } = await leaveAfter('chat-completions', 'svc/plain-chat-completions', {
      before: texts.join('') + stop,
      sign: '"stop"',
    })
    live.write(usage + end)
    live.close()
    expect(await spentAtRest(gateway, accountId)).toBe(10 * PRICE.input + 5_020 * PRICE.output)
  })

  test('the gateway does not wait for hidden reasoning if the model has none, or if usage is known', async () => {
    const { texts, stop, usage } = piecesOf('chat-completions', ['All of ', 'the answer'], THOUGHT)
    await leaveAfter('chat-completions', 'svc/patient-plain', { before: texts.join(''), sign: 'the answer' })
    await until(wasStopped, 'the provider to be stopped')
    const { accountId } = await leaveAfter('chat-completions', 'svc/patient', {
      before: texts.join('') + stop + usage,
      sign: '"stop"',
    })
    await until(wasStopped, 'the provider to be stopped')
    expect(await spentAtRest(gateway, accountId)).toBe(10 * PRICE.input + 5_020 * PRICE.output)
  })

  test('the gateway waits for hidden reasoning as long as the policy allows', async () => {
    const { texts } = piecesOf('chat-completions', ['All of ', 'the answer'], THOUGHT)
    const { accountId } = await leaveAfter('chat-completions', 'svc/brief-chat-completions', {
      before: texts.join(''),
      sign: 'the answer',
    })
    expect(await spentAtRest(gateway, accountId)).toBeLessThan(100 * PRICE.output)
    await until(wasStopped, 'the provider to be stopped')
  })
})

describe('cut answers', () => {
  const KINDS: readonly [string, string][] = [
    [
      'JSON',
      JSON.stringify(Array.from({ length: 40 }, (_, id) => ({ id: `usr_${id * 7_919}`, amount: id * 3.17, ok: true }))),
    ],
    ['CSV', Array.from({ length: 90 }, (_, row) => `${row},2025-01-${10 + (row % 20)},${row * 13.37}`).join(';')],
    ['hex', Array.from({ length: 400 }, (_, index) => ((index * 2_654_435_761) >>> 8).toString(16)).join('')],
    [
      'base64',
      Buffer.from(Array.from({ length: 1_500 }, (_, index) => (index * 197 + index * index) % 256)).toString('base64'),
    ],
    [
      'Chinese',
      '人工智能正在改变我们的生活方式。近年来，随着深度学习技术的快速发展，越来越多的企业开始采用大型语言模型。'.repeat(
        8,
      ),
    ],
    ['Thai', 'ปัญญาประดิษฐ์กำลังเปลี่ยนแปลงวิถีชีวิตของเรา เทคโนโลยีการเรียนรู้เชิงลึกพัฒนาอย่างรวดเร็ว'.repeat(8)],
  ]
  test.each(KINDS)('the cut answer of %s is counted with a tokenizer', async (_, text) => {
    const said = text.match(/.{1,7}/gs) ?? []
    const { texts } = piecesOf('chat-completions', [...said, 'last'], THOUGHT)
    const { accountId } = await leaveAfter('chat-completions', 'svc/plain-chat-completions', {
      before: texts.join(''),
      sign: 'last',
    })
    const counted = exactTokens(`${text}last`)
    const spent = (await spentAtRest(gateway, accountId)) - counted * PRICE.output
    expect(spent).toBeGreaterThan(0)
    expect(spent).toBeLessThan(30 * PRICE.input)
  })
})

/** Asks and leaves; an answer in one piece comes after that, a stream never. Returns what it cost. */
async function leaveAtOnce({ accountId, key }: Customer, { stream }: { stream: boolean }): Promise<number> {
  const answer = Promise.withResolvers<Response>()
  const before = gateway.upstream.calls.length
  gateway.upstream.respond(() => answer.promise)
  const controller = new AbortController()
  const { signal } = controller
  const left = ask('chat-completions', 'svc/plain-chat-completions', key, { stream, limit: 100, signal })
  await until(() => gateway.upstream.calls.length > before, 'the call')
  controller.abort()
  await left.catch(() => undefined)
  if (!stream) {
    await until(() => gateway.gateway.deps.streams.count() > 0, 'the gateway to see that its client has left')
    answer.resolve(Response.json(chatCompletion('Hello', usageOf(15, 90))))
  }
  return spentAtRest(gateway, accountId)
}

/** The hour that is counted in does not end while the test runs. */
async function countInOneHour(accountId: string): Promise<void> {
  const redis = await connect()
  await addToStored(redis, 'account', accountName(accountId), { hangUpHour: 1 })
  redis.disconnect()
}

/** What is booked of an account, oldest first. */
async function recordsOf(accountId: string, count: number) {
  const read = () =>
    gateway.gateway.database.sql<
      { rule: string; status: number; cost_nano: number; provider_cost_nano: number | null; charge_basis: string }[]
    >`SELECT rule, status, cost_nano, provider_cost_nano, charge_basis FROM usage_records WHERE account_id = ${accountId} ORDER BY seq`
  return until(async () => {
    const rows = await read()
    return rows.length >= count && rows
  }, 'the records to be booked')
}

describe('an answer in one piece', () => {
  test('after a disconnect a whole answer is read on and charged by the provider’s usage', async () => {
    const customer = await gateway.customer('1')
    expect(await leaveAtOnce(customer, { stream: false })).toBe(15 * PRICE.input + 90 * PRICE.output)
    expect(await recordsOf(customer.accountId, 1)).toMatchObject([{ rule: 'disconnect_usage', status: 499 }])
  })
})

describe('disconnects before the first byte', () => {
  test('a disconnect before the first byte is free several times an hour, then costs the input; each is recorded and logged', async () => {
    const customer = await gateway.customer('1')
    expect(await leaveAtOnce(customer, { stream: true })).toBe(0)
    await countInOneHour(customer.accountId)
    for (let count = 1; count < FREE_HANG_UPS_PER_HOUR; count++)
      expect(await leaveAtOnce(customer, { stream: true })).toBe(0)
    const charged = await leaveAtOnce(customer, { stream: true })
    expect(charged).toBeGreaterThan(0)
    expect(charged).toBeLessThan(50 * PRICE.input)
    const rows = await recordsOf(customer.accountId, FREE_HANG_UPS_PER_HOUR + 1)
    const free = { rule: 'hangup_free', charge_basis: 'forgiven', cost_nano: 0, status: 499 }
    expect(rows.slice(0, -1)).toEqual(
      Array.from({ length: FREE_HANG_UPS_PER_HOUR }, () => expect.objectContaining(free)),
    )
    expect(rows.at(-1)).toMatchObject({ rule: 'hangup_input', charge_basis: 'counted', cost_nano: charged })
    expect(rows.every((row) => (row.provider_cost_nano ?? 0) > 0)).toBe(true)
  })

  test('a free disconnect uses up tokens per minute', async () => {
    const customer = await gateway.customer('1', { tokensPerMinute: 8_000 })
    const messages = [{ role: 'user', content: 'word '.repeat(1_000) }]
    gateway.upstream.respond(() => new Promise(() => {}))
    async function status(): Promise<number> {
      const controller = new AbortController()
      const before = gateway.upstream.calls.length
      const body = { model: 'svc/plain-chat-completions', stream: true, messages }
      let got = 0
      const asked = chat(gateway.url, customer.key, body, controller.signal)
        .then((response) => {
          got = response.status
        })
        .catch(() => undefined)
      await until(() => got !== 0 || gateway.upstream.calls.length > before, 'the call, or a refusal')
      controller.abort()
      await asked
      await spentAtRest(gateway, customer.accountId)
      return got
    }
    const statuses: number[] = []
    while (statuses.length < FREE_HANG_UPS_PER_HOUR && statuses.at(-1) !== 429) statuses.push(await status())
    expect(statuses.at(-1)).toBe(429)
    expect(await spentAtRest(gateway, customer.accountId)).toBe(0)
  })
})

describe('a provider that has sent no byte', () => {
  test.each(FORMATS.map((format, index) => [format, index % 2 === 0] as const))(
    '%s, streaming %p: a disconnect costs nothing',
    async (format, stream) => {
      const { accountId, key } = await gateway.customer('1')
      const before = gateway.upstream.calls.length
      gateway.upstream.respond(() => new Promise(() => {}))
      const controller = new AbortController()
      const asked = ask(format, `svc/brief-${format}`, key, { stream, limit: 100, signal: controller.signal })
      const left = asked.catch(() => undefined)
      await until(() => gateway.upstream.calls.length > before, 'the call')
      controller.abort()
      await left
      await until(wasStopped, 'the provider to be stopped')
      expect(await spentAtRest(gateway, accountId)).toBe(0)
    },
  )
})
