/** Beta features of messages: the libraries' `betas`, with a provider that refuses a feature without its beta. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import Anthropic, { BadRequestError } from '@anthropic-ai/sdk'
import { startTrio } from '@test/clients/trio'
import type { TestGateway } from '@test/support/gateway'
import type { UpstreamCall } from '@test/support/upstream'
import Anthropic0 from 'anthropic-0'

/** What the newest Claude Code names in each request. */
const HABITUAL = [
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'mid-conversation-tool-changes-2026-07-01',
  'thinking-token-count-2026-05-13',
  'advanced-tool-use-2025-11-20',
  'effort-2025-11-24',
]
const COSTLY = ['files-api-2025-04-14', 'fast-mode-2026-02-01', 'skills-2025-10-02', 'unheard-of-2030-01-01']
const CLEARING: Anthropic.Beta.BetaContextManagementConfig = {
  edits: [{ type: 'clear_thinking_20251015', keep: 'all' }],
}
const BUDGET = { type: 'tokens', total: 50_000 } as const

let gateway: TestGateway
let key: string
beforeAll(async () => {
  gateway = await startTrio({
    catalog(file) {
      const [model] = file.models
      const add = (name: string, provider: object, target: object = {}) => {
        file.providers[name] = { ...file.providers.messages, ...provider }
        file.models.push({ ...model, id: `svc/${name}`, targets: [{ provider: name, model: name, ...target }] })
      }
      add('plain', { betas: [] })
      add('chosen', { betas: ['default', 'fast-mode'] })
      add('selling', {}, { toolPrices: { code_execution: 0.01 } })
      add('fixed', { headers: { 'Anthropic-Beta': 'effort-2025-11-24', 'Anthropic-Version': '2023-06-01' } })
    },
  })
  gateway.upstream.respond(strictProvider)
  key = (await gateway.customer('100')).key
})
afterAll(() => gateway.stop())

const NEEDS: [field: string, family: string][] = [
  ['context_management', 'context-management'],
  ['speed', 'fast-mode'],
  ['user_profile_id', 'user-profiles'],
  ['betas', 'never'],
  ['anthropic_beta', 'never'],
]

/** Refuses fields whose beta the header does not name, and thinks between calls only where it does. */
function strictProvider({ headers, body }: UpstreamCall): Response {
  const betas = headers.get('anthropic-beta') ?? ''
  const unread = NEEDS.find(([field, family]) => body[field] !== undefined && !betas.includes(family))
  const config = body.output_config as { task_budget?: object } | undefined
  const hasUnreadBudget = config?.task_budget !== undefined && !betas.includes('task-budgets')
  if (unread || hasUnreadBudget || /unheard-of|files-api/.test(betas)) {
    const message = `${unread?.[0] ?? 'output_config.task_budget'}: Extra inputs are not permitted`
    return Response.json({ type: 'error', error: { type: 'invalid_request_error', message } }, { status: 400 })
  }
  const thinking = (text: string) => ({ type: 'thinking', thinking: text, signature: 'c2lnbmVk' })
  const between = betas.includes('interleaved-thinking') ? [thinking('between')] : []
  const content = [thinking('first'), ...between, { type: 'text', text: 'Done' }]
  const about = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' }
  const usage = { input_tokens: 10, output_tokens: 5 }
  return Response.json({ ...about, stop_sequence: null, content, usage })
}

function question(model: string) {
  return { model: `svc/${model}`, max_tokens: 4096, messages: [{ role: 'user' as const, content: 'Hi' }] }
}

/** What the newest library's `beta.messages` gets, and what the provider was sent for it. */
async function ask(body: Anthropic.Beta.Messages.MessageCreateParamsNonStreaming) {
  const client = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 })
  const { data, response } = await client.beta.messages.create(body).withResponse()
  const call = gateway.upstream.calls.at(-1)
  const leftOut = response.headers.get('x-svc-left-out')
  return { content: data.content, leftOut, betas: call?.headers.get('anthropic-beta') ?? null, sent: call?.body ?? {} }
}

test('a requested beta reaches the provider, and so do the fields that need it', async () => {
  const answer = await ask({
    ...question('messages'),
    betas: [...HABITUAL, 'task-budgets-2026-03-13'],
    context_management: CLEARING,
    output_config: { effort: 'high', task_budget: BUDGET },
  })
  expect(answer.betas).toBe([...HABITUAL, 'task-budgets-2026-03-13'].join(','))
  expect(answer.sent).toMatchObject({ context_management: CLEARING, output_config: { task_budget: BUDGET } })
  expect(answer.leftOut).toBeNull()
})

test('interleaved thinking is on only if requested', async () => {
  const thinking = { type: 'enabled', budget_tokens: 1024 } as const
  const kindsOf = async (betas: string[]) =>
    (await ask({ ...question('messages'), thinking, betas })).content.map(({ type }) => type)
  expect(await kindsOf([])).toEqual(['thinking', 'text'])
  expect(await kindsOf(['interleaved-thinking-2025-05-14'])).toEqual(['thinking', 'thinking', 'text'])
})

test('each major version of the library reaches the provider, and no beta is added', async () => {
  const client = { apiKey: key, baseURL: gateway.url, maxRetries: 0 }
  const sent = () => {
    const headers = gateway.upstream.calls.at(-1)?.headers
    return [headers?.get('anthropic-version'), headers?.get('anthropic-beta')]
  }
  await new Anthropic(client).messages.create(question('messages'))
  expect(sent()).toEqual(['2026-10-21', null])
  await new Anthropic0(client).beta.messages.create({ ...question('messages'), betas: ['effort-2025-11-24'] })
  expect(sent()).toEqual(['2023-06-01', 'effort-2025-11-24'])
})

test('betas that cost more, use stored state or are unknown are omitted with their fields, and a header names them', async () => {
  const answer = await ask({
    ...question('messages'),
    betas: ['effort-2025-11-24', ...COSTLY],
    speed: 'standard',
  })
  expect(answer.betas).toBe('effort-2025-11-24')
  expect(answer.sent).not.toHaveProperty('speed')
  expect(answer.leftOut).toBe(['speed', ...COSTLY.map((name) => `anthropic-beta.${name}`)].join(', '))
})

test('fields that cost more are refused, with or without a beta', async () => {
  const asking = ask({ ...question('messages'), betas: ['fast-mode-2026-02-01'], speed: 'fast' })
  const error = await asking.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(BadRequestError)
  expect(String(error)).toContain('speed')
})

test('a provider without betas gets no beta, and no fields that need one', async () => {
  const answer = await ask({
    ...question('plain'),
    betas: ['context-management-2025-06-27', 'task-budgets-2026-03-13'],
    context_management: CLEARING,
    output_config: { effort: 'low', task_budget: BUDGET },
  })
  expect(answer.betas).toBeNull()
  expect(answer.sent.context_management).toBeUndefined()
  expect(answer.sent.output_config).toEqual({ effort: 'low' })
  expect(answer.leftOut).toBe(
    'context_management, output_config.task_budget, ' +
      'anthropic-beta.context-management-2025-06-27, anthropic-beta.task-budgets-2026-03-13',
  )
})

test('the catalogue may allow more betas; the beta of a tool with a price is allowed', async () => {
  const betas = ['fast-mode-2026-02-01', 'effort-2025-11-24', 'code-execution-2025-05-22']
  const chosen = await ask({ ...question('chosen'), betas, speed: 'standard' })
  expect(chosen.betas).toBe('fast-mode-2026-02-01,effort-2025-11-24')
  expect(chosen.sent.speed).toBe('standard')
  expect((await ask({ ...question('selling'), betas })).betas).toBe('effort-2025-11-24,code-execution-2025-05-22')
})

test('betas that the catalogue always sends are added', async () => {
  const { betas } = await ask({ ...question('fixed'), betas: ['pdfs-2024-09-25'] })
  expect(betas).toBe('effort-2025-11-24,pdfs-2024-09-25')
  expect(gateway.upstream.calls.at(-1)?.headers.get('anthropic-version')).toBe('2023-06-01')
})

test('a provider of another format gets no beta, and the answer’s header names the omitted betas', async () => {
  gateway.upstream.respond(() =>
    Response.json({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  )
  const answer = await ask({ ...question('chat-completions'), betas: HABITUAL })
  gateway.upstream.respond(strictProvider)
  expect([answer.betas, answer.leftOut]).toEqual([null, 'anthropic-beta'])
})

function post(headers: Record<string, string>, body: object = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...question('messages'), ...body }),
  })
}

test('betas in the body are treated like betas in the header', async () => {
  const body = { betas: ['effort-2025-11-24'], anthropic_beta: 'pdfs-2024-09-25, effort-2025-11-24' }
  expect((await post({ 'anthropic-beta': 'pdfs-2024-09-25' }, body)).status).toBe(200)
  expect(gateway.upstream.calls.at(-1)?.headers.get('anthropic-beta')).toBe('pdfs-2024-09-25,effort-2025-11-24')
})

test.each([
  ['anthropic-beta', 'two words'],
  ['anthropic-beta', 'x'.repeat(97)],
  ['anthropic-beta', Array.from({ length: 65 }, (_, index) => `beta-${index}`).join()],
  ['anthropic-version', 'newest'],
])('a beta header that providers could not accept is refused in the caller’s format: %s', async (name, value) => {
  const before = gateway.upstream.calls.length
  const response = await post({ [name]: value })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    type: 'error',
    error: { type: 'invalid_request_error', message: expect.stringContaining(name), details: { param: name } },
  })
  expect(gateway.upstream.calls.length).toBe(before)
})
