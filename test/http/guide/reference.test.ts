/** The guide's reference pages have exactly the error kinds, codes, headers and limits of the code. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { STATUS_OF_KIND } from '@/chat/error'
import { rateLimitHeaders } from '@/formats/messages/client-side/rate-limit-headers'
import { commonRateLimitHeaders } from '@/formats/rate-limit-headers'
import { guideBlocks, untoldLimits } from './blocks'
import { readGuide } from './guide-files'

const SOURCES = join(import.meta.dir, '..', '..', '..', 'src')
/** The parts that never answer a request with an API key, and the words of formats, which a table of its own has. */
const ELSEWHERE =
  /^(?:console|people|cli|dashboard|boot|db|config|http\/guide)\/|\/(?:encode-(?:error|response)|openai)\.ts$/

/** What passes between proxies, providers and the gateway, what only browsers read of pages, and what is no header at all. */
const NOT_OF_CALLERS = [
  'content-filter',
  'content-security-policy',
  'retry-after-ms',
  'retry-same',
  'x-described-paths',
  'x-errors',
  'x-forwarded-for',
  'x-identity-header',
  'x-ratelimit',
]

/** What clouds tell of themselves. */
const OF_CLOUDS = /^x-(?:amz|amzn|aws)-/

const errors = await readGuide('errors')
const limits = await readGuide('limits-and-headers')

async function sourceTexts(): Promise<string[]> {
  const paths = [...new Bun.Glob('**/*.ts').scanSync(SOURCES)].filter((path) => !ELSEWHERE.test(path))
  return Promise.all(paths.map((path) => Bun.file(join(SOURCES, path)).text()))
}

/** The first cells of the rows below a heading, without their backticks. */
function cellsBelow(text: string, heading: string, column: number): string[] {
  const part =
    text
      .slice(text.indexOf(`\n## ${heading}\n`))
      .slice(1)
      .split('\n## ')[0] ?? ''
  const rows = part.split('\n').filter((line) => line.startsWith('| '))
  return rows.slice(1).map((row) => row.split(' | ')[column]?.replaceAll(/[|`]/g, '').trim() ?? '')
}

describe('the page on errors', () => {
  test('the errors page has a remedy and the status for every kind of error', () => {
    const told = cellsBelow(errors, 'What to do', 1).map((kind, row) => [
      kind,
      cellsBelow(errors, 'What to do', 0)[row],
    ])
    expect(Object.fromEntries(told)).toEqual(
      Object.fromEntries(Object.entries(STATUS_OF_KIND).map(([kind, status]) => [kind, String(status)])),
    )
  })

  test('the errors page lists exactly the existing codes', async () => {
    const patterns = [
      /\bcode: '([a-z]+_[a-z_]+)'/g,
      /(?:refusal|conflict)\('([a-z]+_[a-z_]+)'/g,
      /codes: \{ \w+: '([a-z_]+)' \}/g,
    ]
    const codes = (await sourceTexts()).flatMap((text) =>
      patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, code = '']) => code)),
    )
    expect(cellsBelow(errors, 'Codes', 0)).toEqual([...new Set(codes)].sort())
  })
})

describe('the page on limits and headers', () => {
  test('the headers page has every header that the gateway reads or sends', async () => {
    const limit = { limit: 1, remaining: 1, resetMs: 1 }
    const both = { requests: limit, tokens: limit }
    const literal = /'((?:x|anthropic|retry|request|idempotent|idempotency|content)-[a-z0-9-]+)'/g
    const found = (await sourceTexts()).flatMap((text) => [...text.matchAll(literal)].map(([, name = '']) => name))
    const names = [...found, ...Object.keys(commonRateLimitHeaders(both)), ...Object.keys(rateLimitHeaders(both, 0))]
    const untold = [...new Set(names)].filter((name) => !limits.includes(`\`${name}\``))
    expect(untold.filter((name) => !NOT_OF_CALLERS.includes(name) && !OF_CLOUDS.test(name))).toEqual([])
  })

  test('the headers page has no header that the gateway does not use', async () => {
    const text = (await sourceTexts()).join('\n')
    const named = [...limits.matchAll(/`((?:x|anthropic|idempotent|idempotency)-[a-z-]+)`/g)].map(
      ([, name = '']) => name,
    )
    const unknown = named.filter((name) => !text.includes(`'${name}'`) && !name.startsWith('anthropic-ratelimit-'))
    expect(unknown).toEqual([])
  })

  test('the headers page has every limit of every format', () => {
    expect(untoldLimits()).toEqual([])
  })
})

test('tables of the headers page equal the values in the code', async () => {
  for (const [name, block] of Object.entries(await guideBlocks())) {
    const text = name === 'kinds' ? errors : limits
    const inPage = new RegExp(`<!-- ${name}: begin -->\\n([\\s\\S]*?)<!-- ${name}: end -->`).exec(text)?.[1]
    expect(inPage).toBe(`${block}\n`)
  }
})
