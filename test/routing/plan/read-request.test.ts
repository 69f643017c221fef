/** What is read of a request for routing, its difficulty, and that reading is bounded. */
import { describe, expect, test } from 'bun:test'
import { answered, talk } from '@test/routing/talk'
import { requestOf } from '@test/routing/world'
import { fc } from '@test/support/property'
import type { ChatRequest, Turn } from '@/chat/request'
import { difficultyOf } from '@/routing/plan/difficulty'
import { explainRequest, kindOf, readFeatures } from '@/routing/plan/read-request'

function user(text: string): Turn {
  return { role: 'user', content: [{ type: 'text', text }] }
}

function difficulty(text: string, changes: Partial<ChatRequest> = {}): number {
  return difficultyOf(readFeatures(requestOf(changes, text)))
}

describe('features of a request', () => {
  test('size, turns, tools, images, schema and effort of a request are read', () => {
    const features = readFeatures(
      requestOf({
        turns: [
          user('Earlier.'),
          { role: 'assistant', content: [{ type: 'text', text: 'Yes?' }] },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'And this picture?' },
              { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } },
            ],
          },
        ],
        tools: [{ name: 'a' }, { name: 'b' }],
        output: { type: 'json' },
        reasoning: { effort: 'high' },
      }),
    )
    expect(features).toMatchObject({
      turns: 3,
      tools: 2,
      hasImages: true,
      hasSchema: true,
      effort: 1,
      promptChars: 17,
      materialChars: 0,
    })
    expect(features.inputTokens).toBeGreaterThan(1_000)
  })

  test('the effort of a request ranges from no thinking to very much', () => {
    const effort = (reasoning: ChatRequest['reasoning']) =>
      readFeatures(requestOf(reasoning ? { reasoning } : {})).effort
    expect(effort(undefined)).toBe(0)
    expect(effort({ effort: 'none' })).toBe(-1)
    expect(effort({ budgetTokens: 0 })).toBe(-1)
    expect(effort({ effort: 'low' })).toBe(0)
    expect(effort({ effort: 'medium' })).toBe(0.5)
    expect(effort({ budgetTokens: 4_000 })).toBe(0.5)
    expect(effort({ effort: 'max' })).toBe(1)
  })

  test('a request’s kind follows from its text, or else from its other parts', () => {
    const kind = (text: string, changes: Partial<ChatRequest> = {}) => kindOf(readFeatures(requestOf(changes, text)))
    expect(kind('```python\ndef f(): pass\n```\nWhat does this function do?')).toBe('code')
    expect(kind('Find all x with x^2 + 3*x = 10 and f(x) > 0')).toBe('mathematics')
    expect(kind('Turn off the lamp', { tools: [{ name: 'lamp' }] })).toBe('tools')
    expect(kind('Where does she live?', { output: { type: 'json-schema', schema: {} } })).toBe('extraction')
    expect(kind('How are you?')).toBe('chat')
  })

  test('the instruction is found behind tool results and system reminders', () => {
    const result: Turn = {
      role: 'user',
      content: [{ type: 'tool-result', callId: 'c', content: [{ type: 'text', text: 'ok' }], isError: false }],
    }
    const call: Turn = { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'a', argumentsText: '' }] }
    const turns = [user('Prove the theorem, derive and justify'), call, result, call, result]
    const alone = readFeatures(requestOf({}, 'Prove the theorem, derive and justify'))
    expect(readFeatures(requestOf({ turns })).text).toBe(alone.text)
  })

  test('a conversation without user text has no instruction', () => {
    expect(readFeatures(requestOf({ turns: [] }))).toMatchObject({ promptChars: 0, materialChars: 0, code: 0 })
  })

  test('an instruction is found at either end of a long document, in one text or several', () => {
    const filler = 'The ferry left before dawn and nobody asked where it went. '.repeat(2_000)
    const easy = 'Translate this text into German, please.'
    const hard = 'Analyse and critique this text, evaluate its argument, and justify each of its assumptions.'
    const inBlocks = (task: string): Turn => ({
      role: 'user',
      content: [filler, filler, `\n\n${task}`].map((text) => ({ type: 'text', text }) as const),
    })
    for (const place of [
      (task: string) => user(`${task}\n\n${filler}`),
      (task: string) => user(`${filler}\n\n${task}`),
      inBlocks,
    ]) {
      const textOf = (task: string) => readFeatures(requestOf({ turns: [place(task)] })).text
      expect(textOf(hard)).toBeGreaterThan(textOf(easy))
    }
  })
})

describe('a conversation as a whole', () => {
  const PROOF = 'Prove the theorem, derive the bound, analyse the complexity and justify each assumption step by step.'
  const whole = (...said: string[]) => difficultyOf(readFeatures(requestOf({ turns: talk(...said) })))

  test('a conversation is as hard as its hardest turn; each later turn reduces that difficulty', () => {
    const alone = whole(PROOF)
    const after = [1, 2, 3, 4, 10].map((turns) =>
      readFeatures(requestOf({ turns: talk(PROOF, ...Array(turns).fill('ok go on')) })),
    )
    expect(after[0]?.turnsBack).toBe(1)
    expect(whole(PROOF, 'ok go on')).toBeGreaterThan(alone - 0.05)
    expect(whole(PROOF, 'ok go on', 'ok go on')).toBeGreaterThan(whole('ok go on', 'ok go on', 'ok go on') + 0.2)
    const texts = after.map(({ text }) => text)
    expect(texts).toEqual([...texts].sort((left, right) => right - left))
    expect(new Set(texts).size).toBe(texts.length)
  })

  test('easy turns do not make a conversation harder', () => {
    const text = (...said: string[]) => readFeatures(requestOf({ turns: talk(...said) })).text
    expect(text('Hi', 'Thanks!', PROOF)).toBe(text(PROOF))
    const many = Array.from({ length: 40 }, () => 'Thanks!')
    expect(text(...many)).toBe(text('Thanks!'))
  })

  test('a conversation’s kind and words are those of the hardest turn, which is marked as earlier', () => {
    const text = `${PROOF} Let f(x) = x^2 + 3*x and n > 0.`
    const request = requestOf({ turns: talk(text, 'ok go on') })
    expect(kindOf(readFeatures(request))).toBe('mathematics')
    const earlier = explainRequest(request).find(({ because }) => because === 'said earlier in the conversation')
    expect(earlier?.effect).toBeLessThan(0)
    const words = explainRequest(requestOf({}, text)).map(({ because }) => because)
    expect(explainRequest(request).map(({ because }) => because)).toEqual([...words, earlier?.because ?? ''])
  })

  test('the task of a conversation is found before any number of tool results', () => {
    const calls = Array.from({ length: 400 }, (_, index) => answered(`call_${index}`)).flat()
    const text = (turns: Turn[]) => readFeatures(requestOf({ turns })).text
    expect(text([...talk(PROOF), ...calls])).toBe(text(talk(PROOF)))
    expect(text([...talk(PROOF), ...Array(5).fill(calls).flat()])).toBe(text(talk(PROOF)))
  })

  test('reading thousands of turns takes as long as reading a hundred', () => {
    const long = PROOF.repeat(20)
    const words = (turns: number) => {
      let read = 0
      const counting = talk(...Array(turns).fill(long)).map((turn) => {
        const get = () => {
          read++
          return turn.content
        }
        return Object.defineProperty({ ...turn }, 'content', { get })
      })
      readFeatures(requestOf({ turns: counting }), { capabilities: new Set(), inputTokens: 0 })
      return read
    }
    expect(words(4_000)).toBe(words(100))
  })
})

describe('difficulty', () => {
  test('the difficulty score separates small talk from work', () => {
    const talk = ['Hi!', 'Thanks, that worked!', 'What is the capital of France?', 'Who painted the Mona Lisa?']
    const work = [
      'Prove the theorem by induction, derive the recurrence and justify each step.',
      'Design the architecture, compare the trade-offs, analyse the risks and propose a migration strategy.',
    ]
    for (const text of talk) expect(difficulty(text), text).toBeLessThan(0.4)
    for (const text of work) expect(difficulty(text), text).toBeGreaterThan(0.45)
  })

  test.each([
    ['Beweise den Satz und begründe jede Annahme; analysiere die Risiken.', 'Wie heißt die Hauptstadt von Peru?'],
    ['请分析这个架构的权衡，证明算法的正确性，并比较各种设计。', '今天星期几？'],
    ['Докажите теорему и обоснуйте каждое допущение.', 'Какой сегодня день?'],
  ])('the difficulty score works for other languages and scripts: %s', (hard, easy) => {
    expect(difficulty(hard)).toBeGreaterThan(difficulty(easy) + 0.05)
  })

  test('the difficulty score rises with the demands of the request', () => {
    const text = 'Sort out the numbers of the last quarter.'
    const plain = difficulty(text)
    expect(difficulty(text, { reasoning: { effort: 'high' } })).toBeGreaterThan(plain)
    expect(difficulty(text, { reasoning: { effort: 'none' } })).toBeLessThan(plain)
    const tools = Array.from({ length: 20 }, (_, index) => ({ name: `tool${index}` }))
    expect(difficulty(text, { tools })).toBeGreaterThan(plain)
  })

  test('the difficulty score is a number from 0 to 1 for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 5_000 }), fc.nat(50), (text, tools) => {
        const request = requestOf({ tools: Array.from({ length: tools }, () => ({ name: 't' })) }, text)
        const value = difficultyOf(readFeatures(request))
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('the difficulty score does not depend on the middle of a long text', () => {
    const ends = (middle: string) => `Explain this. ${'a '.repeat(600)}${middle}${' b'.repeat(600)} Why?`
    const short = difficulty(ends('x'.repeat(10_000)))
    expect(difficulty(ends('Prove derive analyse design. '.repeat(20_000)))).toBe(short)
  })
})
