/** Conversations with a tier, turn by turn: the model of each turn, and the explanation to the caller. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { ChatRequest, Turn } from '@/chat/request'
import { ZERO_NANO } from '@/lib/money'
import { routeReason } from '@/routing/route-reason'
import { createRouter, type Router } from '@/routing/router'
import { answered, talk } from './talk'
import { catalogOf, type ManualClock, manualClock, modelOf, providerOf, requestOf, tierOf } from './world'

const p1 = providerOf('p1')
const p2 = providerOf('p2')
const small = modelOf('svc/small', [p1], { usd: 0.05, quality: 0.55 })
const large = modelOf('svc/large', [p2], { usd: 3, quality: 0.95, capabilities: new Set(['tools']) })
const catalog = catalogOf([small, large], [tierOf('auto-smart', 'smart', [small, large])])

const EASY = 'What is the capital of Peru?'
const HARD = 'Prove the theorem, derive the bound, analyse the complexity and justify each assumption step by step.'

type Options = { name?: string; answeredBy?: string; changes?: Partial<ChatRequest>; account?: string }

let clock: ManualClock
let router: Router

beforeEach(() => {
  clock = manualClock()
  router = createRouter({ catalog: { current: catalog }, clock, random: () => 0.5 })
})
afterEach(() => router.stop())

/** Plans one turn and has it answered, by the first of the plan or `answeredBy`. Tells who stood first, and why. */
async function turn(turns: Turn[], { name, answeredBy, changes, account = 'acc_1' }: Options = {}) {
  const request = requestOf({ model: 'auto-smart', turns, ...changes })
  const session = router.sessionOf(request, account, name)
  const plan = await router.plan(request, { clientFormat: 'chat-completions', session })
  const first = plan.models[0]?.id ?? ''
  router.remember(plan, answeredBy ?? first, session)
  clock.advance(5_000)
  return { first, reason: routeReason(plan, first, []), outcome: plan.choice?.session?.outcome }
}

describe.each([
  ['that is named', 'one'],
  ['that has no name', undefined],
])('a conversation about %s keeps its model', (_, given) => {
  const options = given === undefined ? {} : { name: given }

  test('a conversation moves to a stronger model when the task becomes hard, and keeps that model', async () => {
    expect(await turn(talk(EASY), options)).toMatchObject({ first: 'svc/small' })
    expect(await turn(talk(EASY, 'Thanks!'), options)).toMatchObject({ first: 'svc/small', outcome: 'kept' })
    const hard = await turn(talk(EASY, 'Thanks!', HARD), options)
    expect(hard).toMatchObject({ first: 'svc/large', outcome: 'too-weak' })
    expect(hard.reason).toMatch(/^chosen; moved up from svc\/small; smart, hard chat \(0\.\d\d\), score -?\d/)
    const said = [EASY, 'Thanks!', HARD]
    for (let more = 0; more < 20; more++) {
      said.push(EASY)
      const easy = await turn(talk(...said), options)
      expect(easy).toMatchObject({ first: 'svc/large', outcome: 'kept' })
      expect(easy.reason).toBe('session; auto-smart keeps the model of this conversation')
    }
  })

  test('a conversation returns to its model after a temporary replacement', async () => {
    await turn(talk(HARD), options)
    await turn(talk(HARD, 'ok go on'), { ...options, answeredBy: 'svc/small' })
    expect(await turn(talk(HARD, 'ok go on', 'ok'), options)).toMatchObject({ first: 'svc/large', outcome: 'kept' })
  })

  test('a conversation whose model can no longer serve it changes to another model, and does not return', async () => {
    const image = { type: 'image' as const, source: { type: 'url' as const, url: 'https://example.test/a.png' } }
    const shown: Turn[] = [...talk(HARD, 'ok'), { role: 'user', content: [image, { type: 'text', text: 'And this?' }] }]
    await turn(talk(HARD), options)
    await turn(talk(HARD, 'ok'), options)
    expect(await turn(shown, options)).toMatchObject({ first: 'svc/small', outcome: 'cannot-serve' })
    const after = [...shown, ...talk('', 'Thanks').slice(1)]
    expect(await turn(after, options)).toMatchObject({ first: 'svc/small', outcome: 'kept' })
  })

  test('a conversation keeps its model during tool calls', async () => {
    const asked = talk(HARD)
    const changes = { tools: [{ name: 'look' }] }
    await turn(asked, { ...options, changes })
    const working = [...asked, ...answered('call_1'), ...answered('call_2')]
    expect(await turn(working, { ...options, changes })).toMatchObject({ first: 'svc/large', outcome: 'kept' })
  })

  test('a conversation follows the preference of one turn, and returns to its model in the next', async () => {
    const preferences = { order: [], only: [], ignore: [], sort: 'price' as const }
    await turn(talk(HARD), options)
    const wished = await turn(talk(HARD, 'ok'), { ...options, changes: { preferences } })
    expect(wished).toMatchObject({ first: 'svc/small', outcome: 'unwanted' })
    expect(await turn(talk(HARD, 'ok', 'ok'), options)).toMatchObject({ first: 'svc/large', outcome: 'kept' })
  })

  test('a conversation ends after a quarter of an hour without a turn', async () => {
    await turn(talk(HARD), options)
    clock.advance(15 * 60_000)
    expect((await turn(talk(HARD, EASY), options)).outcome).toBeUndefined()
  })
})

test('many conversations with the same beginning do not move each other to stronger models', async () => {
  await turn(talk('Hi'), { changes: { userId: 'application' } })
  for (let index = 0; index < 5; index++) {
    await turn(talk('Hi', `${HARD} ${index}`), { changes: { userId: 'application' } })
  }
  const other = { changes: { userId: 'application' } }
  expect((await turn(talk('Hi'), other)).first).toBe('svc/small')
  expect(await turn(talk('Hi', EASY), other)).toMatchObject({ first: 'svc/small', outcome: 'kept' })
})

test('if turns of a conversation are answered out of order, it keeps the stronger model', async () => {
  const session = router.sessionOf(requestOf({ model: 'auto-smart' }), 'acc_1', 'one')
  const origin = { clientFormat: 'chat-completions' as const, session }
  const easy = await router.plan(requestOf({ model: 'auto-smart' }, EASY), origin)
  const hard = await router.plan(requestOf({ model: 'auto-smart' }, HARD), origin)
  router.remember(hard, 'svc/large', session)
  router.remember(easy, 'svc/small', session)
  expect(await turn(talk(EASY), { name: 'one' })).toMatchObject({ first: 'svc/large', outcome: 'kept' })
})

test('only tiers have conversations, and a model outside the tier is never remembered', async () => {
  expect(router.sessionOf(requestOf({ model: 'svc/small' }), 'acc_1', 'one')).toBeUndefined()
  await turn(talk(EASY), { name: 'one', answeredBy: 'svc/elsewhere' })
  expect((await turn(talk(EASY), { name: 'one' })).outcome).toBeUndefined()
})

test('the explanation names the conversation’s former model, and why it was kept or replaced', async () => {
  await turn(talk(EASY), { name: 'one' })
  const request = requestOf({ model: 'auto-smart' }, HARD)
  const session = router.sessionOf(request, 'acc_1', 'one')
  const plan = await router.plan(request, { clientFormat: 'chat-completions', session })
  expect(router.explain(plan, request, () => ZERO_NANO)).toMatchObject({
    reason: expect.stringContaining('moved up from svc/small'),
    tier: { sticky: false, session: { model: 'svc/small', outcome: 'too-weak' } },
  })
  const alone = await router.plan(request, { clientFormat: 'chat-completions', session: undefined })
  expect(router.explain(alone, request, () => ZERO_NANO).tier).toMatchObject({ sticky: false, session: null })
})
