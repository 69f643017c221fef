/** Log lines: one JSON object each, without secrets, and no value can break out of its line. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { createLogger, type LogFields, type LoggerOptions, type LogLevel, type OwnFields } from '@/lib/logger'
import { createRedactor } from '@/lib/redact'

type Line = LogFields & { time: string; level: string; event: string }

function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', service: 'gateway', write: (line) => void lines.push(line), ...options })
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Line }
}

describe('a log line', () => {
  test('a log line has time, level, service, event and fields', () => {
    const { logger, lines, last } = capture({ now: () => 1_760_000_000_123 })
    logger.warn('upstream_failed', { status: 502, attempts: [1, 2], nothing: undefined })
    expect(lines).toEqual([expect.stringMatching(/^\{.*\}\n$/)])
    expect(last()).toEqual({
      time: '2025-10-09T08:53:20.123Z',
      level: 'warn',
      service: 'gateway',
      event: 'upstream_failed',
      status: 502,
      attempts: [1, 2],
    })
  })

  test.each([
    ['debug', 4],
    ['info', 3],
    ['warn', 2],
    ['error', 1],
  ] as const)('the logger writes lines of level %s and above', (level: LogLevel, count) => {
    const { logger, lines } = capture({ level })
    for (const name of ['debug', 'info', 'warn', 'error'] as const) logger[name]('something')
    expect(lines).toHaveLength(count)
  })

  test('fields never overwrite the log line’s own names', () => {
    const { logger, last } = capture()
    logger.info('attempt', { model: 'c', event: 'forged', level: 'forged', time: 'forged' })
    expect(last()).toMatchObject({ model: 'c', event: 'attempt', level: 'info' })
    expect(last().time).not.toBe('forged')
  })

  test('a log line is one line of JSON for any values', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.anything({ withBigInt: true, withDate: true })),
        (fields) => {
          const { logger, lines } = capture()
          logger.info('anything', fields)
          const [line = ''] = lines
          expect(lines).toHaveLength(1)
          expect(line.indexOf('\n')).toBe(line.length - 1)
          expect([...line.slice(0, -1)].every((character) => character >= ' ')).toBe(true)
          expect(JSON.parse(line).event).toBe('anything')
        },
      ),
    )
  })

  test('S14: a log line escapes line feeds and terminal codes', () => {
    const { logger, lines, last } = capture()
    logger.info('login', { email: 'a\r\n{"event":"forged"}\u001b[31mred' })
    expect(lines[0]).not.toContain('\u001b')
    expect(lines[0]?.trimEnd()).not.toContain('\n')
    expect(last().email).toBe('a\r\n{"event":"forged"}\u001b[31mred')
  })

  test('circular, throwing and huge values do not prevent a log line', () => {
    const { logger, lines, last } = capture()
    const loop: LogFields = {}
    for (let index = 0; index < 100; index++) loop[`self${index}`] = loop
    logger.info('odd', { bytes: new Uint8Array(5), text: 'x'.repeat(1_000_000), list: Array(10_000).fill(0), loop })
    expect(lines[0]?.length).toBeLessThan(30_000)
    expect(last().bytes).toBe('[5 bytes]')
    logger.info('thrower', {
      get bad() {
        throw new Error('not today')
      },
    })
    expect(last().event).toBe('thrower')
  })
})

describe('a log line with data from our code', () => {
  const plain = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('acct_1', 'stop', ''),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom('input', 'output', 'flags'), tie('value')),
    ),
  }))

  test('the logger’s fast path writes the same line as the slow path', () => {
    const fields = fc.dictionary(fc.constantFrom('requestId', 'usage', 'flags', 'status'), plain.value)
    const foreign = fc.dictionary(fc.constantFrom('model', 'reason'), fc.string({ unit: 'binary' }))
    fc.assert(
      fc.property(fields, foreign, (own, outside) => {
        const { logger, lines } = capture({ now: () => 1_760_000_000_123 })
        logger.infoOwn('chat', own as OwnFields, outside)
        logger.info('chat', { ...outside, ...own })
        expect(lines[0]).toBe(lines[1] as string)
      }),
    )
  })

  test('secrets and long texts are removed from data that is not our own', () => {
    const { logger, last } = capture({ redact: createRedactor(['correct-horse-battery']) })
    const model = 'is correct-horse-battery, or sk-proj-abcdefghijklmnop'
    logger.infoOwn('chat', { status: 200 }, { model, reason: 'x'.repeat(1_000_000) })
    expect(last()).toMatchObject({ status: 200, model: 'is [redacted], or [redacted]' })
    expect(String(last().reason).length).toBeLessThan(10_000)
  })

  test('a text that is logged repeatedly is written the same, each time with the current time', () => {
    let nowMs = 1_760_000_000_123
    const { logger, lines } = capture({ redact: createRedactor(['correct-horse-battery']), now: () => nowMs })
    for (const atMs of [nowMs, nowMs, nowMs + 1, nowMs]) {
      nowMs = atMs
      logger.infoOwn('chat', {}, { model: 'correct-horse-battery' })
    }
    const moments = ['.123Z', '.123Z', '.124Z', '.123Z'].map((end) => `2025-10-09T08:53:20${end}`)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject(moments.map((time) => ({ time, model: '[redacted]' })))
  })

  test('a log line of our own data is written at level info and above', () => {
    for (const [level, count] of [
      ['info', 1],
      ['warn', 0],
    ] as const) {
      const { logger, lines } = capture({ level })
      logger.infoOwn('chat', {}, {})
      expect(lines).toHaveLength(count)
    }
  })
})

describe('errors in a log line', () => {
  test('logged errors have name, message, code and cause, and a stack at level debug only', () => {
    const cause = Object.assign(new TypeError('socket closed'), { code: 'ECONNRESET' })
    const error = new Error('upstream failed', { cause })
    for (const level of ['info', 'debug'] as const) {
      const { logger, last } = capture({ level })
      logger.error('failed', { error })
      const expected = { name: 'Error', message: 'upstream failed', cause: { name: 'TypeError', code: 'ECONNRESET' } }
      expect(last().error).toMatchObject(expected)
      expect(Object.hasOwn(last().error as object, 'stack')).toBe(level === 'debug')
    }
  })

  test('logged errors have no secret in their messages', () => {
    const { logger, lines } = capture({ level: 'debug' })
    logger.error('failed', { error: new Error('refused: Authorization: Bearer abc.def-123') })
    expect(lines[0]).not.toContain('abc.def-123')
  })
})

describe('redaction', () => {
  const secrets = ['correct-horse-battery', 'sëcret"with\nodd\\chars', 'a+b(c)[d]{8}$^.*?|']

  test.each([
    ['a key of ours', 'svc-0123456789abcdefghijABCDEFGHIJ012345'],
    ['a provider key', 'sk-proj-abcdefghijklmnop'],
    ['another provider key', 'AIzaSyA-1234567890abcdefgh_ijklmnop'],
    ['a bearer token', 'xyz.123~abc', 'Authorization: Bearer xyz.123~abc'],
    ['a basic credential', 'dXNlcjpwYXNzd29yZA==', 'Basic dXNlcjpwYXNzd29yZA=='],
    ['a signed token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
    ['a key in a query', 'whatever-it-is', '/v1beta/models?key=whatever-it-is&alt=sse'],
    ['a password in a URL', 'user:hunter2', 'redis://user:hunter2@host:6379'],
    ...secrets.map((secret) => ['a configured secret', secret]),
  ])('redaction removes %s', (_, secret = '', text = `before ${secret} after`) => {
    const { logger, lines, last } = capture({ redact: createRedactor(secrets) })
    logger.info('request', { url: text, nested: [{ deep: text }], [text]: 1 })
    expect(lines[0]).not.toContain(JSON.stringify(secret).slice(1, -1))
    expect(last().url).toContain('[redacted]')
  })

  test.each(['authorization', 'Cookie', 'password', 'api_key', 'apiKey', 'x-provider3-api-key', 'secret'])(
    'redaction removes any value of the field %s',
    (field) => {
      const { logger, last } = capture()
      logger.info('request', { headers: { [field]: 'plain words', accept: 'text/plain' } })
      expect(last().headers).toEqual({ [field]: '[redacted]', accept: 'text/plain' })
    },
  )

  test('redaction finds a secret anywhere in any text', () => {
    const redact = createRedactor(secrets)
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...secrets), fc.string(), (before, secret, after) => {
        expect(redact(before + secret + after)).not.toContain(secret)
      }),
    )
  })

  test('redaction leaves other text unchanged', () => {
    const redact = createRedactor(['short'])
    for (const text of ['svc-gateway', 'svc/alpha', 'the short task-force', 'https://host:80/a?keys=1', 'Bearer']) {
      expect(redact(text)).toBe(text)
    }
  })
})
