/** From a request to an offer that the ledger accepts: the first offer, and the next one after each refusal. */

import { describe, expect, test } from 'bun:test'
import { formatOf } from '@test/gateway/answer-parts'
import { catalogOf, manualClock, modelOf, providerOf, requestOf } from '@test/routing/world'
import type { Model } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { createKeyPermissions } from '@/gateway/hold/key-permissions'
import { ChatNegotiation, type NegotiationDeps, type ChatOffer as Offer } from '@/gateway/hold/negotiation'
import type { Refusal } from '@/gateway/hold/terms'
import { type Allowed, EVERYTHING } from '@/ledger/allowed'
import { nano } from '@/lib/money'
import { createRouter } from '@/routing/router'

const PROSE = 'The quick brown fox jumps over the lazy dog. '.repeat(200)
const PAYER = { accountId: 'acct_1', keyId: 'key_1' }

const chat = providerOf('chat')
const other = providerOf('other', { format: 'messages' })
const alpha = modelOf('svc/alpha', [chat])
const beta = modelOf('svc/beta', [other])

const only = (allowedModels: string[]): Allowed => ({ allowedModels, allowedProviders: null })

type World = { deps: NegotiationDeps; asked: string[]; keyAllows: Allowed }

function worldOf(models: Model[], restore = async (_: string, request: ChatRequest) => request): World {
  const router = createRouter({ catalog: { current: catalogOf(models) }, clock: manualClock() })
  const world: World = {
    asked: [],
    keyAllows: EVERYTHING,
    deps: {
      router,
      permissions: createKeyPermissions(),
      signatures: { restore },
      ledger: {
        async readKey({ keyId }) {
          world.asked.push(keyId)
          return world.keyAllows as never
        },
      },
    },
  }
  return world
}

function arrivedWith(request: ChatRequest) {
  const asked = { request, body: {}, bodyBytes: PROSE.length }
  return {
    requestId: 'req_1',
    payer: PAYER,
    format: formatOf('chat-completions'),
    asked,
    arrivedAtMs: 1_760_000_000_000,
  }
}

async function begin({ deps }: World, changes: Partial<ChatRequest> = {}) {
  const negotiation = await new ChatNegotiation(deps, arrivedWith(requestOf(changes, PROSE)), undefined).begin()
  const next = async (refusal: Refusal) => ((await negotiation.goOn(refusal)) ? negotiation.offered : undefined)
  return { first: negotiation.offered, next }
}

function short(offer: Offer | undefined, available: number): Refusal {
  return { kind: 'insufficient', available: nano(available), held: nano(0), needed: offer?.size.amount ?? nano(0) }
}

describe('missing credit', () => {
  test('if credit is missing, the prompt is counted exactly, then the output limit lowered', async () => {
    const { first, next } = await begin(worldOf([alpha]))
    const exact = await next(short(first, first.size.amount - 1))
    expect(exact?.size.amount).toBeLessThan(first.size.amount)
    expect(exact?.size.bounds.outputTokens).toBe(alpha.maxOutputTokens)
    expect([exact?.request, exact?.loweredCap]).toEqual([first.request, undefined])
    const lowered = await next(short(exact, 20_000_000))
    expect(lowered?.size.amount).toBeLessThanOrEqual(20_000_000)
    expect(lowered?.loweredCap).toBeGreaterThan(256)
    expect(lowered?.request.maxOutputTokens).toBe(lowered?.loweredCap as number)
    expect(await next(short(lowered, 1))).toBeUndefined()
  })

  test('an exact count and a lower output limit are tried together if the count alone is known to be too high', async () => {
    const { first, next } = await begin(worldOf([alpha]))
    const lowered = await next(short(first, 20_000_000))
    expect(lowered?.loweredCap).toBeGreaterThan(256)
    expect(await next(short(lowered, 20_000_000))).toBeUndefined()
  })

  test.each([
    ['budget', 20_000_000, 1_000_000_000],
    ['balance', 1_000_000_000, 20_000_000],
  ])('the output limit is lowered to the smaller of budget and balance: %s', async (_, remaining, available) => {
    const { first, next } = await begin(worldOf([alpha]))
    const refusal: Refusal = {
      ...{ kind: 'budget_exceeded', resetsAtMs: 0, held: nano(0), needed: first.size.amount },
      ...{ remaining: nano(remaining), available: nano(available) },
    }
    const lowered = await next(refusal)
    expect(lowered?.loweredCap).toBeGreaterThan(256)
    expect(lowered?.size.amount).toBeLessThanOrEqual(20_000_000)
  })

  test('the caller’s own output limit is kept', async () => {
    const { first, next } = await begin(worldOf([alpha]), { maxOutputTokens: 1_000 })
    const exact = await next(short(first, 1))
    expect(exact?.request.maxOutputTokens).toBe(1_000)
    expect(exact?.size.bounds.inputTokens).toBeLessThan(first.size.bounds.inputTokens)
    expect(await next(short(exact, 1))).toBeUndefined()
  })

  test('no other offer is made if the balance does not cover the minimum, or the account is in debt', async () => {
    for (const available of [1_000, 0, -5_000]) {
      const { first, next } = await begin(worldOf([alpha]))
      expect(await next(short(first, available))).toBeUndefined()
    }
  })
})

describe('allowed models that differ from the cached ones', () => {
  const changed = (models: string[]): Refusal => ({ kind: 'models_changed', allowed: only(models) })

  test('if the allowed models differ from the cached ones, the request is planned again, and the cache updated', async () => {
    const world = worldOf([alpha, beta])
    const { first, next } = await begin(world, { fallback: ['svc/beta'] })
    expect([first.allowed, first.plan.models.length]).toEqual([EVERYTHING, 2])
    const again = await next(changed(['svc/alpha', 'svc/beta']))
    expect(again?.allowed).toEqual(only(['svc/alpha', 'svc/beta']))
    expect(world.deps.permissions.recall('key_1')).toEqual(only(['svc/alpha', 'svc/beta']))
    expect((await begin(world)).first.allowed).toEqual(only(['svc/alpha', 'svc/beta']))
  })

  test('a request that the new plan forbids is refused', async () => {
    const { next } = await begin(worldOf([alpha, beta]))
    await expect(next(changed(['svc/beta']))).rejects.toMatchObject({ kind: 'forbidden' })
  })

  test('the output limit of a new plan can be lowered again', async () => {
    const { first, next } = await begin(worldOf([alpha]))
    await next(short(first, 20_000_000))
    const again = await next(changed(['svc/alpha']))
    expect(again?.size).toEqual(first.size)
    expect((await next(short(again, 20_000_000)))?.loweredCap).toBeGreaterThan(256)
  })

  test('a key that keeps changing is refused with retry-after', async () => {
    const { next } = await begin(worldOf([alpha]))
    const offers: (Offer | undefined)[] = []
    for (let count = 0; count < 6; count++) offers.push(await next(changed(['svc/alpha'])))
    expect(offers.map((offer) => offer !== undefined)).toEqual([true, true, true, true, true, false])
  })
})

describe('cached rights of a key', () => {
  test('cached rights of a key do not refuse a request until the ledger has decided', async () => {
    const world = worldOf([alpha, beta])
    world.deps.permissions.note('key_1', only(['svc/beta']))
    world.keyAllows = only(['svc/alpha'])
    expect((await begin(world)).first.allowed).toEqual(only(['svc/alpha']))
    expect(world.asked).toEqual(['key_1'])
  })

  test('cached rights refuse a request once the ledger has confirmed them', async () => {
    const world = worldOf([alpha, beta])
    world.deps.permissions.note('key_1', only(['svc/beta']))
    world.keyAllows = only(['svc/beta'])
    await expect(begin(world)).rejects.toMatchObject({ kind: 'forbidden' })
  })

  test('a request that no key may make is refused without a look-up of rights', async () => {
    const world = worldOf([alpha])
    await expect(begin(world, { model: 'svc/none' })).rejects.toBeInstanceOf(GatewayError)
    expect(world.asked).toEqual([])
  })
})

describe('allowed providers that differ from the cached ones', () => {
  const served = modelOf('svc/both', [chat, other])
  const by = (allowedProviders: string[] | null): Allowed => ({ allowedModels: null, allowedProviders })

  test('if other providers are allowed than cached, the request is planned again without the others, also next time', async () => {
    const world = worldOf([served])
    const { first, next } = await begin(world, { model: 'svc/both' })
    const providers = (offer: Offer | undefined) => offer?.plan.targets.map(({ target }) => target.provider.name)
    expect(providers(first)).toEqual(['chat', 'other'])
    expect(providers(await next({ kind: 'models_changed', allowed: by(['other']) }))).toEqual(['other'])
    expect(providers((await begin(world, { model: 'svc/both' })).first)).toEqual(['other'])
  })

  test('the ledger decides before a request is refused for its providers', async () => {
    const world = worldOf([served])
    world.deps.permissions.note('key_1', by(['gone']))
    expect((await begin(world, { model: 'svc/both' })).first.allowed).toEqual(EVERYTHING)
    world.deps.permissions.note('key_1', by(['gone']))
    world.keyAllows = by(['gone'])
    await expect(begin(world, { model: 'svc/both' })).rejects.toMatchObject({
      options: { code: 'provider_not_allowed' },
    })
  })

  test('once a key may use all providers again, its requests are planned without a provider list', () => {
    const { deps } = worldOf([alpha])
    const begun = () => new ChatNegotiation(deps, arrivedWith(requestOf()), undefined).begin()
    deps.permissions.note('key_1', by(['chat']))
    expect(begun()).toBeInstanceOf(Promise)
    deps.permissions.note('key_1', EVERYTHING)
    expect(begun()).toBeInstanceOf(ChatNegotiation)
  })
})

describe('signatures that the client could not keep', () => {
  const signed = 'x'.repeat(3_000)
  const restore = async (_: string, request: ChatRequest): Promise<ChatRequest> => ({
    ...request,
    turns: [...request.turns, { role: 'assistant', content: [{ type: 'reasoning', text: signed }] }],
  })

  test('signatures that the client’s format dropped are restored for a provider of another format, and reserved', async () => {
    const [plain, restored] = [
      await begin(worldOf([beta]), { model: 'svc/beta' }),
      await begin(worldOf([beta], restore), { model: 'svc/beta' }),
    ]
    expect(restored.first.request.turns).toHaveLength(2)
    expect(restored.first.size.bounds.inputTokens - plain.first.size.bounds.inputTokens).toBeGreaterThan(3_000)
    expect(restored.first.size.estimatedInput).toBeGreaterThan(plain.first.size.estimatedInput + 500)
  })

  test('signatures are not looked up if every target has the client’s format', async () => {
    const { first } = await begin(worldOf([alpha], restore))
    expect(first.request.turns).toHaveLength(1)
  })
})
