/** Which requests belong to one conversation, with and without a name. */
import { describe, expect, test } from 'bun:test'
import { answered, talk } from '@test/routing/talk'
import { requestOf } from '@test/routing/world'
import type { ChatRequest, Turn } from '@/chat/request'
import { conversationOf, sessionOf } from '@/routing/plan/session'

const TIER = { model: 'auto-smart' }

function unnamed(turns: Turn[], changes: Partial<ChatRequest> = {}, account = 'a1') {
  return sessionOf(account, requestOf({ ...TIER, turns, ...changes }), undefined)
}

describe('a named conversation', () => {
  test('a conversation is named by header or cache key, within its account and tier', () => {
    const request = requestOf({ ...TIER, cacheKey: 'c', userId: 'u' })
    const byHeader = sessionOf('a1', request, 'h')
    const byCacheKey = sessionOf('a1', request, '')
    const elsewhere = sessionOf('a2', request, 'h')
    const otherTier = sessionOf('a1', { ...request, model: 'auto-fast' }, 'h')
    expect(new Set([byHeader, byCacheKey, elsewhere, otherTier].map((session) => session?.to)).size).toBe(4)
    expect(sessionOf('a1', requestOf(TIER, 'Something else'), 'h')).toEqual(byHeader as NonNullable<typeof byHeader>)
    expect(byHeader?.from).toBe(byHeader?.to as string)
    expect(byHeader?.to).toMatch(/^[0-9a-f]{32}$/)
  })
})

describe('an unnamed conversation', () => {
  test('an unnamed conversation is identified by its first turn, and each turn continues the one before', () => {
    const said = ['Hi', 'Prove it.', 'ok go on', 'And then?', 'Why?', 'ok', 'ok', 'Thanks']
    const sessions = said.map((_, index) => unnamed(talk(...said.slice(0, index + 1))))
    expect(sessions[0]?.from).toBeUndefined()
    for (const [index, session] of sessions.entries()) {
      if (index > 0) expect(session?.from).toBe(sessions[index - 1]?.to as string)
    }
    expect(new Set(sessions.map((session) => session?.to)).size).toBe(said.length)
  })

  test('tool calls belong to the turn of the conversation that began before them', () => {
    const asked = talk('Hi', 'Look it up.')
    const working = [...asked, ...answered('call_1'), ...answered('call_2')]
    expect(unnamed(working)?.from).toBe(unnamed(asked)?.to as string)
    expect(unnamed(working)?.to).toBe(unnamed(asked)?.to as string)
    const begun: Turn[] = [...asked, { role: 'assistant', content: [{ type: 'text', text: 'Here is' }] }]
    expect(unnamed(begun)).toEqual(unnamed(asked) as NonNullable<ReturnType<typeof unnamed>>)
  })

  test('two conversations count as different from their first difference on', () => {
    const [here, there] = [talk('Hi', 'Prove it.', 'ok'), talk('Hi', 'How are you?', 'ok')].map((turns) =>
      unnamed(turns),
    )
    expect(here?.from).not.toBe(there?.from as string)
    const boilerplate = 'Answer from the context. '.repeat(200)
    const [first, second] = ['one', 'two'].map((question) => unnamed(talk(`${boilerplate}${question}`, 'ok')))
    expect(first?.from).not.toBe(second?.from as string)
  })

  test('unnamed conversations differ by user text, system prompt, account and tier', () => {
    const [hi, bye] = [talk('Hi', 'ok'), talk('Bye', 'ok')].map((turns) => unnamed(turns, { userId: 'application' }))
    expect(hi?.from).not.toBe(bye?.from as string)
    const turns = talk('Hi', 'ok')
    const sessions = [
      unnamed(turns),
      unnamed(turns, { userId: 'u' }),
      unnamed(turns, { system: [{ type: 'text', text: 'Be brief.' }] }),
      unnamed(turns, { model: 'auto-fast' }),
      unnamed(turns, {}, 'a2'),
    ]
    expect(new Set(sessions.map((session) => session?.from)).size).toBe(5)
  })

  test('a changed end of a long system prompt does not change the conversation', () => {
    const system = (time: string) => ({
      system: [{ type: 'text' as const, text: `${'Be brief. '.repeat(200)}${time}` }],
    })
    expect(unnamed(talk('Hi', 'ok'), system('12:02'))?.from).toBe(unnamed(talk('Hi'), system('12:01'))?.to as string)
  })

  test('a conversation’s identifier contains none of its text', () => {
    expect(unnamed(talk('My secret', 'ok'))).toEqual({
      from: expect.stringMatching(/^[0-9a-f]{32}$/),
      to: expect.stringMatching(/^[0-9a-f]{32}$/),
      isNamed: false,
    })
  })

  test('without user text a conversation has no identifier', () => {
    expect(unnamed([])).toBeUndefined()
    expect(unnamed(answered('call_1'))).toBeUndefined()
  })
})

describe('the key identifier', () => {
  const of = (turns: Turn[], changes: Partial<ChatRequest> = {}, name = '', account = 'a1') =>
    conversationOf(account, requestOf({ turns, ...changes }), name)

  test('the key identifier of a conversation is the conversation’s name or beginning, for any model', () => {
    const said = ['Hi', 'Prove it.', 'ok', 'And then?', 'Why?', 'ok', 'Thanks']
    const turns = said.map((_, index) => of([...talk(...said.slice(0, index + 1)), ...answered('call_1')]))
    expect(new Set([...turns, of(talk('Hi'), { model: 'svc/other' })]).size).toBe(1)
    expect(of(talk('Hi'), {}, 'n')).toBe(of(talk('Bye'), { model: 'svc/other', cacheKey: 'c' }, 'n') as string)
    expect(turns[0]).toMatch(/^[0-9a-f]{32}$/)
  })

  test('the key identifier differs by beginning, account, user, cache key and system prompt', () => {
    const hi = talk('Hi')
    const system = [{ type: 'text' as const, text: 'Be kind.' }]
    const all = [of(hi), of(talk('Bye')), of(hi, {}, '', 'a2'), of(hi, { userId: 'u' }), of(hi, { cacheKey: 'c' })]
    expect(new Set([...all, of(hi, { system }), of(hi, {}, 'n'), of(hi, {}, 'n', 'a2')]).size).toBe(8)
    expect(of([])).toBeUndefined()
  })
})
