/** Finish reasons: the tables list every value of the official libraries, and an unlisted value is never a normal stop. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { decodeFinishReason as ofChatCompletions } from '@/formats/chat-completions/finish-reason'
import { decodeFinishReason as ofGenerateContent } from '@/formats/generate-content/finish-reason'
import { decodeFinishReason as ofMessages } from '@/formats/messages/finish-reason'
import { decodeFinishReason as ofResponses } from '@/formats/responses/finish-reason'

const NOTHING = { hasToolCalls: false, hasRefusal: false, hasContent: true }
const CALLED = { ...NOTHING, hasToolCalls: true }

const DECODERS = {
  'chat-completions': (word: string, answer = NOTHING) => ofChatCompletions(word, answer),
  messages: (word: string, answer = NOTHING) => ofMessages(word, null, answer.hasToolCalls),
  'generate-content': (word: string, answer = NOTHING) => ofGenerateContent(word, answer),
  'responses, reasons': (word: string, answer = NOTHING) =>
    ofResponses({ status: 'incomplete', incomplete_details: { reason: word } }, answer),
  'responses, statuses': (word: string, answer = NOTHING) => ofResponses({ status: word }, answer),
}

type Place = keyof typeof DECODERS
const PLACES = Object.keys(DECODERS) as Place[]

/** Where the installed libraries declare their words, and how many there are at the least. */
const DECLARED: [place: Place, file: string, declaration: RegExp, least: number][] = [
  ['chat-completions', 'openai/resources/chat/completions/completions.d.ts', /finish_reason: ([^;]+);/g, 5],
  ['messages', '@anthropic-ai/sdk/resources/messages/messages.d.ts', /type StopReason = ([^;]+);/g, 7],
  ['messages', '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts', /type BetaStopReason = ([^;]+);/g, 8],
  ['generate-content', '@google/genai/dist/genai.d.ts', /enum FinishReason \{([^}]+)\}/g, 20],
  [
    'responses, reasons',
    'openai/resources/responses/responses.d.ts',
    /interface IncompleteDetails \{[^}]*reason\?: ([^;]+);/g,
    4,
  ],
]

/** Reasons that Google declares in newer releases than the one that is installed. */
const NEWER = ['MODEL_ARMOR', 'ESCALATION', 'PUP_LIMITED_DISABLED', 'MISSING_THOUGHT_SIGNATURE']

test.each(DECLARED)('%s: every finish reason that %s declares is listed', async (place, file, declaration, least) => {
  const text = await Bun.file(join(import.meta.dir, '../../node_modules', file)).text()
  const words = [...text.matchAll(declaration)].flatMap(([, words = '']) =>
    [...words.matchAll(/['"](\w+)['"]/g)].map(([, word = '']) => word),
  )
  expect(words.length).toBeGreaterThanOrEqual(least)
  expect(words.filter((word) => DECODERS[place](word).isUnlisted)).toEqual([])
})

test('generate-content: every finish reason of newer releases is listed, and a filtered answer is incomplete', () => {
  expect(NEWER.filter((word) => DECODERS['generate-content'](word).isUnlisted)).toEqual([])
  for (const word of NEWER.slice(0, 3)) expect(DECODERS['generate-content'](word, CALLED).kind).toBe('content-filter')
})

describe.each(PLACES)('%s: an unlisted finish reason', (place) => {
  const decode = DECODERS[place]
  test.each([
    ['NEW_SAFETY_RULE', 'content-filter'],
    ['TOOL_CALL_BLOCKED', 'content-filter'],
    ['sensitive', 'content-filter'],
    ['output_limit_reached', 'length'],
    ['max_tool_rounds', 'length'],
    ['network_error', 'error'],
    ['SOMETHING_NEW', 'unknown'],
    ['new_tool_thing', 'unknown'],
  ] as const)('an unlisted finish reason %s is read as %s', (word, kind) => {
    expect(decode(word)).toEqual({ kind, raw: word, isUnlisted: true })
  })

  test('if an answer has a tool call, an unlisted finish reason counts as a tool call, unless its name means cut or filtered', () => {
    const calls = place === 'responses, reasons' ? 'unknown' : 'tool-calls'
    expect(decode('SOMETHING_NEW', CALLED).kind).toBe(calls)
    expect(decode('new_tool_thing', CALLED).kind).toBe(calls)
    expect(decode('NEW_SAFETY_RULE', CALLED).kind).toBe('content-filter')
    expect(decode('output_limit_reached', CALLED).kind).toBe('length')
  })
})
