/** The overview route: first steps of a new account, figures equal to the ledger's, and a hint when to add credit. */
import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { test } from '@test/ledger/accounts/within-day'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { addCredit, ask, flushed } from '@test/usage/customer'
import { CRITICAL_DAYS, hintOf, LOW_BALANCE_NANO, LOW_DAYS } from '@/console/usage-views/balance-hint'
import { formatUsd, nano, parseUsd } from '@/lib/money'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(10, 500))) })
})
afterAll(() => gateway.stop())

describe('the overview', () => {
  test('a new account’s overview lists the first steps', async () => {
    const person = await signUpPerson(gateway)
    const { accountId } = person.viewer
    const overview = async () => (await person.json('GET', '/dashboard/api/a/:accountId/overview')).body
    expect(await overview()).toMatchObject({
      ...{ balance: '0', available: '0', held: '0', spentToday: '0', spentThisMonth: '0', requests: 0, errors: 0 },
      speed: { durationMs: null, firstTokenMs: null, tokensPerSecond: null },
      ...{ activeKeys: 0, days: [], hint: { level: 'empty', daysLeft: null }, pendingRecords: 0 },
      started: { hasKey: false, hasCredit: false, hasRequest: false },
    })
    await addCredit(gateway, accountId, '3.5')
    const credited = { balance: '3.5', available: '3.5', hint: { level: 'ok', daysLeft: null } }
    expect(await overview()).toMatchObject({ ...credited, started: { hasKey: false, hasCredit: true } })
    const key = await gateway.apiKeys.create({ accountId, name: 'first' })
    if (key.kind !== 'created') throw new Error(key.kind)
    expect(await overview()).toMatchObject({ activeKeys: 1, started: { hasKey: true, hasRequest: false } })
    await ask(gateway, key.key)
    expect(await overview()).toMatchObject({ started: { hasKey: true, hasCredit: true, hasRequest: true } })
  })

  test('the sums of the overview equal the ledger’s spending', async () => {
    const person = await signUpPerson(gateway)
    const { accountId } = person.viewer
    await addCredit(gateway, accountId, '0.006')
    const key = await gateway.apiKeys.create({ accountId, name: 'first' })
    if (key.kind !== 'created') throw new Error(key.kind)
    for (let index = 0; index < 3; index++) await ask(gateway, key.key, { max_tokens: 600 })
    await flushed(gateway, accountId)
    const { spent, available } = await gateway.balance(accountId)
    const { status, body } = await person.json('GET', '/dashboard/api/a/:accountId/overview')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{
        available: formatUsd(available),
        held: '0',
        balance: formatUsd(available),
        spentThisMonth: formatUsd(spent),
      },
      ...{ requests: 3, errors: 0, spentToday: formatUsd(spent), pendingRecords: 0 },
      days: [{ model: 'svc/alpha', requests: 3, cost: formatUsd(spent) }],
      // About half is spent on the first day: what is left lasts less than another two.
      hint: { level: 'critical' },
    })
    const { speed } = body as { speed: { durationMs: number; tokensPerSecond: number } }
    expect(speed.durationMs).toBeGreaterThanOrEqual(0)
    expect(spent).toBe(nano(3 * 1_010_000))
  })
})

describe('hintOf, the text on the remaining credit', () => {
  const nowMs = Date.UTC(2026, 10, 21, 12)
  const weekAgo = Date.UTC(2026, 10, 15)
  const usd = (text: string) => nano(parseUsd(text) ?? 0)

  test('hintOf is empty if no credit remains, also below zero', () => {
    for (const balance of ['0', '-1']) {
      expect(hintOf({ balance: usd(balance), spentInWindow: 5, firstDayMs: weekAgo, nowMs }).level).toBe('empty')
    }
  })

  test('hintOf uses the rate of the last week', () => {
    const hint = (balance: string, spent: string) =>
      hintOf({ balance: usd(balance), spentInWindow: usd(spent), firstDayMs: weekAgo, nowMs })
    // 6.5 days at 2 USD a day.
    expect(hint('100', '13')).toEqual({ level: 'ok', daysLeft: 50 })
    expect(hint('13.9', '13').level).toBe('low')
    expect(hint('14', '13')).toEqual({ level: 'ok', daysLeft: LOW_DAYS })
    expect(hint('3.9', '13').level).toBe('critical')
    expect(hint('4', '13')).toEqual({ level: 'low', daysLeft: CRITICAL_DAYS })
  })

  test('hintOf counts the first day of a new account as a whole one', () => {
    const hint = hintOf({ balance: usd('10'), spentInWindow: usd('1'), firstDayMs: nowMs - 3_600_000, nowMs })
    expect(hint).toEqual({ level: 'ok', daysLeft: 10 })
  })

  test('hintOf warns of little credit even without spending', () => {
    const hint = (balance: number) => hintOf({ balance: nano(balance), spentInWindow: 0, firstDayMs: null, nowMs })
    expect(hint(LOW_BALANCE_NANO - 1)).toEqual({ level: 'low', daysLeft: null })
    expect(hint(LOW_BALANCE_NANO)).toEqual({ level: 'ok', daysLeft: null })
  })
})
