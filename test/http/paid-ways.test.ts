/** Every way to spend an account's credit, against every limit: each way respects it, and is booked to the acting member. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { answerCohere, sellRerank } from '@test/gateway/media/rankers'
import { answerSound, sellAudio, wavOf } from '@test/gateway/media/sounds'
import { answerPictures, sellPictures } from '@test/gateway/picture-providers'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion, chatStream, eventStream, usageOf } from '@test/support/upstream'
import { flushed } from '@test/usage/customer'
import { changeAccountLimits } from '@/accounts/account-limits'
import { createAccounts } from '@/accounts/accounts'
import { changeAccountAddresses } from '@/accounts/addresses/addresses'
import { OPERATOR } from '@/accounts/audit'
import { createBudgets } from '@/accounts/budgets/budgets'
import { createCredits } from '@/accounts/credits'
import { changeKeyPolicy, changeMemberKeyPolicy } from '@/accounts/policies/key-policy'
import type { BudgetWindow } from '@/ledger/budgets'
import type { AccountLimits } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { nano } from '@/lib/money'
import type { KeyRules } from '@/people/keys/fields'

let gateway: TestGateway
/** An owner of every account of a test. */
let member: Person

beforeAll(async () => {
  gateway = await startGateway({
    respond(call) {
      const { path, body } = call
      if (path.includes('/audio/')) return answerSound(call)
      if (path.endsWith('/rerank')) return answerCohere(call)
      if (path.includes('/images/')) return answerPictures(call)
      if (path.endsWith('/embeddings')) return Response.json(EMBEDDED)
      return body.stream
        ? eventStream(...chatStream(['Hi'], usageOf(50, 50)))
        : Response.json(chatCompletion('Hello', usageOf(50, 50)))
    },
    catalog: (file) => {
      const target = { provider: 'provider1', model: 'embed-upstream' }
      const known = { created: 1_760_000_000, ownedBy: 'provider1', contextLength: 8_192 }
      const pricing = { inputPer1mTokens: 1 }
      file.models.push({ id: 'svc/embed', kind: 'embedding', name: 'Embed', ...known, pricing, targets: [target] })
      file.models.push({ ...file.models[0], id: 'svc/beta', name: 'Beta' })
      sellAudio(file)
      sellRerank(file)
      sellPictures(file)
      file.providers.provider2 = { ...file.providers.provider1 }
    },
  })
})
// A session may send only so many requests a minute.
beforeEach(async () => {
  member = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())

const EMBEDDED = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [1, 0, 0] }],
  ...{ model: 'embed-upstream', usage: { prompt_tokens: 50, total_tokens: 50 } },
}
const MESSAGES = [{ role: 'user', content: 'Hi' }]

/** An account, and a key of the member; `responseId` is a stored response of theirs. */
type Team = {
  accountId: string
  keyId: string
  key: string
  member: Person
  playgroundKeyId: string
  responseId?: string
}

async function newTeam(): Promise<Team> {
  const { accountId } = await gateway.customer('10')
  const { userId, email } = member.viewer
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${userId}, 'owner')`
  const made = await gateway.apiKeys.create({ accountId, name: 'theirs', createdBy: userId })
  assert(made.kind === 'created', made.kind)
  const playgroundKeyId = await gateway.apiKeys.playgroundKey(accountId, { actor: { userId, email } })
  return { accountId, keyId: made.keyId, key: made.key, member, playgroundKeyId }
}

type Ask = (team: Team) => Promise<Response>

function post(path: string, body: object): Ask {
  return ({ key }) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    })
}

function playground(more: object): Ask {
  return ({ accountId, member }) =>
    member.fetch(`/dashboard/api/a/${accountId}/playground/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc/alpha', messages: MESSAGES, ...more }),
    })
}

/** A sound to be written down. */
function sound({ key }: Team): Promise<Response> {
  const body = new FormData()
  body.append('model', 'svc/stt')
  body.append('file', new File([wavOf(1)], 'sound.wav'))
  const headers = { authorization: `Bearer ${key}` }
  return fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers, body })
}

/** Goes on from a stored response, the first time from one that is made for it. */
async function goOn(team: Team): Promise<Response> {
  if (team.responseId === undefined) {
    const first = await post('/v1/responses', { model: 'svc/alpha', input: 'Hi', store: true })(team)
    team.responseId = ((await first.json()) as { id: string }).id
  }
  const body = { model: 'svc/alpha', input: 'Go on', previous_response_id: team.responseId }
  return await post('/v1/responses', body)(team)
}

const CHAT = { model: 'svc/alpha', messages: MESSAGES }
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
const WAYS: Record<string, Ask> = {
  'chat completions': post('/v1/chat/completions', CHAT),
  'chat completions, streamed': post('/v1/chat/completions', { ...CHAT, stream: true }),
  messages: post('/v1/messages', { ...CHAT, max_tokens: 50 }),
  'messages, streamed': post('/v1/messages', { ...CHAT, max_tokens: 50, stream: true }),
  'generate content': post('/v1beta/models/svc/alpha:generateContent', CONTENTS),
  'generate content, streamed': post('/v1beta/models/svc/alpha:streamGenerateContent?alt=sse', CONTENTS),
  responses: post('/v1/responses', { model: 'svc/alpha', input: 'Hi', store: true }),
  'responses, streamed': post('/v1/responses', { model: 'svc/alpha', input: 'Hi', stream: true }),
  'responses, from a stored one': goOn,
  embeddings: post('/v1/embeddings', { model: 'svc/embed', input: 'Hi' }),
  speech: post('/v1/audio/speech', { model: 'svc/tts', input: 'Hi', voice: 'alloy' }),
  transcription: sound,
  rerank: post('/v1/rerank', { model: 'svc/rerank', query: 'Hi', documents: ['Hi'] }),
  picture: post('/v1/images/generations', { model: 'svc/picture', prompt: 'A red fox' }),
  playground: playground({}),
  'playground, streamed': playground({ stream: true }),
}

/** A team, and the key that the way under test is paid through. */
type Limited = Team & { paidBy: string }
type SetLimit = (of: Limited) => Promise<unknown>

function budget(scope: 'account' | 'member' | 'key', window: BudgetWindow): SetLimit {
  return async ({ accountId, member, paidBy }) => {
    const scopeId = { account: accountId, member: member.viewer.userId, key: paidBy }[scope]
    const budgets = createBudgets(gateway.gateway.database, gateway.gateway.deps.ledger)
    const changed = await budgets.change({ accountId, scope, scopeId, limits: { [window]: nano(0) }, by: OPERATOR })
    expect(changed.kind).toBe('updated')
  }
}

const models = { allowedModels: ['svc/beta'] }
const providers = { allowedProviders: ['provider2'] }
/** Rules of where content may go. The catalogue states nothing about its providers. */
const DATA_RULES = {
  zeroRetention: { zeroRetention: true },
  noTraining: { noTraining: true },
  regions: { regions: ['eu'] },
}
const ofAccount =
  (policy: Partial<KeyRules>): SetLimit =>
  ({ accountId }) =>
    changeKeyPolicy(gateway.gateway.database, gateway.gateway.deps.ledger, { accountId, policy, by: OPERATOR })
const ofMember =
  (policy: Partial<KeyRules>): SetLimit =>
  ({ accountId, member }) =>
    changeMemberKeyPolicy(gateway.gateway.database, gateway.gateway.deps.ledger, {
      ...{ accountId, userId: member.viewer.userId, policy, by: OPERATOR },
    })
const ofKey =
  (changes: Parameters<TestGateway['apiKeys']['change']>[1]): SetLimit =>
  ({ paidBy }) =>
    gateway.apiKeys.change(paidBy, changes)

function limitAccount({ accountId }: Limited, limit: keyof AccountLimits): Promise<unknown> {
  const change = { accountId, limits: { [limit]: 1 }, reason: 'test', by: OPERATOR }
  return changeAccountLimits(gateway.gateway.database, gateway.gateway.deps.ledger, change)
}

/** A limit of one, which a request that stays open has reached. */
function limited(set: SetLimit): SetLimit {
  return async (of) => {
    await set(of)
    const hold = { holdId: `open_${of.paidBy}`, amount: nano(1), inputCost: nano(1), tokens: 1, ttlMs: 300_000 }
    const { kind } = await gateway.gateway.deps.ledger.reserve({
      ...{ accountId: of.accountId, keyId: of.paidBy, ...hold, from: { clientAddress: '127.0.0.1' } },
    })
    expect(kind).toBe('reserved')
  }
}

const LIMITS: Record<string, { status: number; set: SetLimit }> = {
  'the account has no credit': {
    status: 402,
    async set({ accountId }) {
      const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
      const { available } = await gateway.balance(accountId)
      await credits.addCredit({ accountId, amount: nano(-available), reference: 'taken back' })
    },
  },
  'the account is suspended': {
    status: 403,
    set: ({ accountId }) =>
      createAccounts(gateway.gateway.database, gateway.gateway.deps.ledger).setStatus(accountId, 'suspended'),
  },
  ...Object.fromEntries(
    (['account', 'member', 'key'] as const).flatMap((scope) =>
      (['day', 'week', 'month', 'total'] as const)
        .filter((window) => scope === 'member' || window === 'day')
        .map((window) => [`the budget of the ${scope} is 0 (${window})`, { status: 402, set: budget(scope, window) }]),
    ),
  ),
  ...Object.fromEntries(
    (['requestsPerMinute', 'tokensPerMinute', 'concurrency'] as const).flatMap((limit) => [
      [`the key has a limit (${limit})`, { status: 429, set: limited(ofKey({ [limit]: 1 })) }],
      [`the account has a limit (${limit})`, { status: 429, set: limited((of) => limitAccount(of, limit)) }],
    ]),
  ),
  'the budget of the key is 0 (month)': { status: 402, set: ofKey({ monthlyBudget: nano(0) }) },
  'the account may not use the model': { status: 403, set: ofAccount(models) },
  'the member may not use the model': { status: 403, set: ofMember(models) },
  'the key may not use the model': { status: 403, set: ofKey(models) },
  'the account may not use the provider': { status: 403, set: ofAccount(providers) },
  'the member may not use the provider': { status: 403, set: ofMember(providers) },
  'the key may not use the provider': { status: 403, set: ofKey(providers) },
  ...Object.fromEntries(
    Object.entries(DATA_RULES).flatMap(([name, rule]) => [
      [`the account has a rule for content (${name})`, { status: 404, set: ofAccount(rule) }],
      [`the member has a rule for content (${name})`, { status: 404, set: ofMember(rule) }],
      [`the key has a rule for content (${name})`, { status: 404, set: ofKey(rule) }],
    ]),
  ),
  'the key is switched off': { status: 403, set: ({ paidBy }) => gateway.apiKeys.deactivate(paidBy) },
  'the address is not on the list': {
    status: 403,
    set: ({ accountId }) =>
      changeAccountAddresses(gateway.gateway.database, gateway.gateway.deps.ledger, {
        ...{ accountId, addresses: ['203.0.113.0/24'], by: OPERATOR },
      }),
  },
}

async function ask(way: string, team: Team): Promise<number> {
  const response = await (WAYS[way] as Ask)(team)
  await response.text()
  return response.status
}

/** The ways that a key pays for, and those that the playground's key pays for. */
const PAID_BY = Object.values(
  Object.groupBy(Object.keys(WAYS), (way) => (way.startsWith('playground') ? 'play' : 'key')),
)

test.each(Object.entries(LIMITS))(
  '%s: each paid route refuses the request before the provider is called',
  async (limit, { status, set }) => {
    const seen: Record<string, unknown> = {}
    const expected: Record<string, unknown> = {}
    for (const ways of PAID_BY) {
      const team = await newTeam()
      const isPlayground = ways === PAID_BY[1]
      // Warms what the gateway remembers of the key. The last test has each way answered.
      expect(await ask(isPlayground ? 'playground' : 'responses, from a stored one', team)).toBe(200)
      await set({ ...team, paidBy: isPlayground ? team.playgroundKeyId : team.keyId })
      const calls = gateway.upstream.calls.length
      for (const way of ways) {
        seen[way] = [await ask(way, team), gateway.upstream.calls.length - calls]
        expected[way] = [limit === 'the key is switched off' && !isPlayground ? 401 : status, 0]
      }
    }
    expect(seen).toEqual(expected)
  },
)

test('without a limit each way is answered, and charged to the acting member', async () => {
  const team = await newTeam()
  const ways = Object.keys(WAYS)
  for (const way of ways) expect([way, await ask(way, team)]).toEqual([way, 200])
  await flushed(gateway, team.accountId)
  const { sql } = gateway.gateway.database
  const booked = await sql`SELECT member_id, count(*)::int AS records FROM usage_records
    WHERE account_id = ${team.accountId} GROUP BY member_id`
  // The stored response that one way goes on from is a request too.
  expect([...booked]).toEqual([{ member_id: team.member.viewer.userId, records: ways.length + 1 }])
})
