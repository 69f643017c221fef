/** Beta features at clouds: the table covers each beta, and says whether a cloud gets it, and by which name. */
import { describe, expect, test } from 'bun:test'
import type { Protocol } from '@/chat/protocol'
import { BETAS, type Cloud } from '@/dialects/betas'
import { describeBeta } from '@/formats/messages/betas'
import { betasRefused, leftOutOfOwn, protocolHeaders } from '@/formats/protocol'
import type { JsonObject } from '@/lib/json'
import { targetOfEntry } from './provider-entry'

const AWS = { type: 'aws', region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }
const AT = { format: 'messages', baseUrl: 'http://127.0.0.1:1' }
const PLACES: Record<string, { entry: JsonObject; cloud?: Cloud }> = {
  anthropic: { entry: { ...AT, keys: ['k'] } },
  invoke: { entry: { ...AT, dialect: 'bedrock-invoke', auth: AWS }, cloud: 'bedrock' },
  converse: { entry: { ...AT, dialect: 'bedrock-converse', auth: AWS }, cloud: 'bedrock' },
  mantle: { entry: { preset: 'bedrock-anthropic', baseUrl: AT.baseUrl, keys: ['k'] }, cloud: 'mantle' },
  vertex: {
    entry: { preset: 'vertex-anthropic', project: 'p', location: 'global', baseUrl: AT.baseUrl },
    cloud: 'vertex',
  },
  foundry: { entry: { preset: 'foundry', baseUrl: AT.baseUrl, keys: ['k'] }, cloud: 'foundry' },
}

/** What the newest Claude Code names in each request. */
const CLAUDE_CODE = [
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'mid-conversation-tool-changes-2026-07-01',
  'thinking-token-count-2026-05-13',
  'advanced-tool-use-2025-11-20',
  'effort-2025-11-24',
]

function protocolOf(names: readonly string[]): Protocol {
  return { betaHeader: 'anthropic-beta', betas: names.map((name) => describeBeta(name, {})) }
}

function traitsOf(entry: JsonObject) {
  const { provider, quirks, toolPrices } = targetOfEntry(entry)
  return { quirks, toolPrices, betas: provider.betas, takenBeta: provider.dialect.takenBeta }
}

function told(entry: JsonObject, names: readonly string[]) {
  const protocol = protocolOf(names)
  const traits = traitsOf(entry)
  return {
    asked: protocolHeaders(protocol, traits, {})['anthropic-beta']?.split(',') ?? [],
    leftOut: leftOutOfOwn({ unlisted: [], protocol }, traits),
  }
}

const typings = await Bun.file(
  new URL(import.meta.resolve('@anthropic-ai/sdk/resources/beta/beta')).pathname.replace(/\.m?js$/, '.d.ts'),
).text()
const published = [...(/export type AnthropicBeta = ([^;]*);/.exec(typings)?.[1]?.matchAll(/'([^']+)'/g) ?? [])].map(
  ([, name]) => String(name),
)

test('the table lists each beta that callers may use by default', () => {
  const described = [...published, ...CLAUDE_CODE].map((name) => describeBeta(name, {}))
  const usable = described.filter(({ isFree, tool }) => isFree || tool !== undefined)
  expect(usable.length).toBeGreaterThan(20)
  for (const { family } of usable) expect(Object.keys(BETAS)).toContain(family)
})

describe.each(Object.entries(PLACES))('betas at the cloud %s', (_, { entry, cloud }) => {
  const families = Object.keys(BETAS).filter((family) => describeBeta(`${family}-2026-01-01`, {}).isFree)

  test.each(families)('the beta %s is sent, renamed, or omitted and named', (family) => {
    const name = `${family}-2026-01-01`
    const row = cloud ? BETAS[family]?.[cloud] : 'carried'
    const { asked, leftOut } = told(entry, [name])
    if (row === undefined) expect([asked, leftOut]).toEqual([[], [`anthropic-beta.${name}`]])
    else expect([asked, leftOut]).toEqual([[row === 'carried' ? name : row], []])
  })

  test('operators may allow any beta', () => {
    const { asked, leftOut } = told({ ...entry, betas: ['*'] }, ['unheard-of-2030-01-01', 'claude-code-20250219'])
    expect([asked, leftOut]).toEqual([['unheard-of-2030-01-01', 'claude-code-20250219'], []])
  })
})

test('each cloud gets the betas of Claude Code that it supports', () => {
  const at = (place: string) => told(PLACES[place]?.entry ?? {}, CLAUDE_CODE).asked.join(' ')
  expect(at('anthropic')).toBe(CLAUDE_CODE.join(' '))
  expect(at('vertex')).toBe('interleaved-thinking-2025-05-14 context-management-2025-06-27 tool-search-tool-2025-10-19')
  expect(at('invoke')).toBe(
    'interleaved-thinking-2025-05-14 context-management-2025-06-27 mid-conversation-tool-changes-2026-07-01 ' +
      'tool-search-tool-2025-10-19 effort-2025-11-24',
  )
})

test.each([
  ['Unexpected value(s) `effort-2025-11-24` for the `anthropic-beta` header.', ['effort-2025-11-24']],
  ['no such beta: tool-search-tool-2025-10-19', ['advanced-tool-use-2025-11-20']],
  ['invalid beta flag', ['interleaved-thinking-2025-05-14', 'effort-2025-11-24', 'advanced-tool-use-2025-11-20']],
  ['messages.0: the beta release of the book is not text', []],
])('the refused betas are read from a cloud’s error, under either name: %s', (words, refused) => {
  const names = ['interleaved-thinking-2025-05-14', 'effort-2025-11-24', 'advanced-tool-use-2025-11-20']
  expect(betasRefused(protocolOf(names), words, traitsOf(PLACES.invoke?.entry ?? {}))).toEqual(refused)
})
