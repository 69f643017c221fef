/**
 * Rules for time in tests: how long something takes is for `bench/` to judge, since a busy machine takes any time for anything, and
 * whoever waits waits for something to happen.
 */
import type { Source, SyntaxNode, Violation } from '@test/tidy/source'

/** A test, a hook and a file of tests may take as long as no load can make them take. */
const TEST_LIMIT_MS = 300_000

/** Where a test may look at the clock or let time go by, and why it has to. */
const ALLOWED: Readonly<Record<string, string>> = {
  'test/support/until.ts': 'is how everybody else waits',
  'test/support/delays.ts': 'gives what is slow its name: providers, and time that somebody spends',
  'test/support/random-delays.ts': 'makes stores and timers late at random',
  'test/support/at-least.ts': 'measures what load cannot break',
  'test/runner/main.ts': 'says how long a run took, and judges nothing by it',
  'test/fuzz/raw.ts': 'the attacker is patient for so long, and judges nothing by it',
  'test/fuzz/probe.ts': 'the attacker reads streams for so long, and judges nothing by it',
  'test/fuzz/neighbours.ts': 'judges a neighbour by what others wait beside it and alone, by hand on a quiet machine',
  'test/fuzz/good-customer.ts': 'measures what others wait beside a neighbour, for the line above',
  'test/fuzz/loop-watch.ts': 'judges a standstill by the processor time that it took',
  'test/gateway/attempt/silent-storm.test.ts': 'its clock is its own, and jumps',
  'test/clients/cli/run.ts': 'a command by hand, which says how long each program took and ends one that hangs',
}
const CLOCKS = new Set(['performance.now', 'Date.now', 'Bun.nanoseconds', 'process.hrtime', 'process.hrtime.bigint'])
const WAITS = new Set(['Bun.sleep', 'Bun.sleepSync', 'setTimeout', 'AbortSignal.timeout'])
const TIMED = new Set(['test', 'it', 'beforeAll', 'beforeEach', 'afterAll', 'afterEach', 'setDefaultTimeout'])
const CHANCES = new Set(['Math.random'])
/** Commands by hand whose seed is drawn, and printed. */
const DRAWS = new Set(['test/runner/main.ts', 'test/fuzz/main.ts', 'test/whole-streams/main.ts'])
/** Gives the generator of values its seed. */
const SEEDED = 'test/support/property.ts'

const DURATION = 'a duration: count the work instead, wait for the event, or measure it in bench/'

/** Checks a file of `test/`, whatever it is for; the rules themselves and their samples name what they forbid. */
export function checkTime(source: Source): Violation[] {
  const clocks = namesOfMoments(source)
  const { path } = source
  const timed = source.nodes.flatMap((node) => {
    const detail = complaint(node, path, clocks)
    return detail === undefined ? [] : [{ path, line: node.line, rule: 'time', detail }]
  })
  const unseeded = source.imports.filter(({ specifier }) => specifier === 'fast-check' && path !== SEEDED)
  const detail = `fast-check: comes with its seed from ${SEEDED}`
  return [...timed, ...unseeded.map(({ line }) => ({ path, line, rule: 'time', detail }))]
}

/** Those of the allowed places that need no allowance. */
export function checkAllowances(sources: readonly Source[]): Violation[] {
  const allowed = sources.filter(({ path }) => path in ALLOWED)
  const paths = new Set(allowed.filter(isTimed).map(({ path }) => path))
  return Object.keys(ALLOWED)
    .filter((path) => !paths.has(path))
    .map((path) => ({ path, line: 0, rule: 'time', detail: 'is allowed to look at the clock, and never does' }))
}

function complaint(node: SyntaxNode, path: string, moments: ReadonlySet<string>): string | undefined {
  if (node.type === 'CallExpression') {
    const name = nameOf(node.fields.callee)
    if (CHANCES.has(name) && !DRAWS.has(path)) return `${name}: a test draws nothing but by a seed that stays`
    const limit = path.endsWith('.test.ts') ? limitOf(node, name) : undefined
    if (limit !== undefined && limit < TEST_LIMIT_MS) return `${name}: a limit of ${limit} ms, which load can reach`
    if (name === 'until' && argumentsOf(node).length > 2) return 'until: its own limit is the only one'
    if (/^toBe(Less|Greater)Than/.test(propertyOf(node.fields.callee)) && isOffset(argumentsOf(node)[0])) {
      return 'a moment that is compared with another a while away: take one from before'
    }
  }
  return path in ALLOWED ? undefined : timedComplaint(node, moments)
}

function isTimed(source: Source): boolean {
  const moments = namesOfMoments(source)
  return source.nodes.some((node) => timedComplaint(node, moments) !== undefined)
}

function timedComplaint(node: SyntaxNode, moments: ReadonlySet<string>): string | undefined {
  if (node.type === 'BinaryExpression') {
    const [operator, left, right] = [String(node.fields.operator), node.fields.left, node.fields.right]
    // A moment less a constant is another moment; what a moment is taken from is a duration.
    if (operator === '-' && isMoment(right, moments)) return DURATION
    const isCompared = ['<', '<=', '>', '>='].includes(operator)
    if (isCompared && (readsClock(left) || readsClock(right))) return 'a limit of its own: wait by until()'
  }
  if (node.type !== 'CallExpression') return undefined
  const name = nameOf(node.fields.callee)
  const isFixed = WAITS.has(name) || name.endsWith('.waitForTimeout')
  // A sleep of nothing is a turn of the event loop.
  if (!isFixed || (name === 'Bun.sleep' && numberOf(argumentsOf(node)[0]) === 0)) return undefined
  return `${name}: a fixed wait; wait for the event by until(), or name what is slow by test/support/delays.ts`
}

/** The limit that a test, a hook of its file or the whole file sets itself, where it is a number. */
function limitOf(node: SyntaxNode, name: string): number | undefined {
  const base = name.split('.')[0] ?? ''
  const { callee } = node.fields as { callee?: { callee?: unknown } }
  const curried = nameOf(callee?.callee).split('.')[0] ?? ''
  if (!TIMED.has(base) && !TIMED.has(curried)) return undefined
  return numberOf(argumentsOf(node).at(-1))
}

/** What a file calls the moments that it has read from a clock. */
function namesOfMoments({ nodes }: Source): Set<string> {
  const declared = nodes.filter(({ type, fields }) => type === 'VariableDeclarator' && readsClock(fields.init))
  return new Set(declared.map(({ fields }) => nameOf(fields.id)).filter((name) => name !== ''))
}

function isMoment(node: unknown, moments: ReadonlySet<string>): boolean {
  return readsClock(node) || moments.has(nameOf(node))
}

/** Whether it is a look at a clock itself, or a moment reckoned from one. */
function readsClock(node: unknown): boolean {
  const { type, callee, left, right } = (node ?? {}) as Record<string, unknown>
  if (type === 'CallExpression') return CLOCKS.has(nameOf(callee))
  return type === 'BinaryExpression' && (readsClock(left) || readsClock(right))
}

function argumentsOf(node: SyntaxNode): unknown[] {
  return node.fields.arguments as unknown[]
}

function numberOf(node: unknown): number | undefined {
  const { type, value } = (node ?? {}) as { type?: string; value?: unknown }
  return type === 'NumericLiteral' ? Number(value) : undefined
}

/** Whether it is a moment reckoned from the clock, such as a minute ago. */
function isOffset(node: unknown): boolean {
  const { type, operator } = (node ?? {}) as { type?: string; operator?: string }
  return type === 'BinaryExpression' && (operator === '-' || operator === '+') && readsClock(node)
}

function propertyOf(node: unknown): string {
  return nameOf((node as { property?: unknown } | undefined)?.property)
}

/** `a.b.c` of an identifier or of members that have names; '' of anything else. */
function nameOf(node: unknown): string {
  const { type, name, object, property } = (node ?? {}) as Record<string, unknown>
  if (type === 'Identifier') return String(name)
  if (type !== 'MemberExpression') return ''
  const [owner, own] = [nameOf(object), nameOf(property)]
  return own === '' ? '' : `${owner}.${own}`
}
