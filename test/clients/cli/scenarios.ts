/** What a command-line client is put through: its prompt, what the provider says, and what must come of it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { speakCall } from '@test/clients/spoken'
import { ROUND_TRIPS } from '@test/matrix/cases/round-trips'
import { TEXT, USAGE } from '@test/matrix/cases/words'
import { costOf } from '@test/matrix/expectation'
import { respondWith } from '@test/matrix/provider'
import type { UpstreamCall } from '@test/support/upstream'
import type { FormatName } from '@/chat/format-name'
import { claudeCode, codex, type Program } from './programs'
import type { Recorded } from './recorder'

export type Outcome = { exitCode: number; output: string; errors: string; calls: UpstreamCall[]; requests: Recorded[] }

export type Scenario = {
  name: string
  prompt: string
  /** The provider's answer to its call number `index`. */
  respond(context: ScenarioContext, call: UpstreamCall, index: number): Response
  /** What is wrong with the outcome; undefined if it is as it should be. */
  judge(outcome: Outcome, context: ScenarioContext): string | undefined
  /** Absent = every program. */
  only?: Program
  /** The answers call the program's own tool: programs without one are passed over. */
  needsTool?: boolean
  /** The program has to ask again after an error: programs that end there are passed over. */
  needsRetry?: boolean
  /** The calls report another usage than the usual one, or break: the charge is only above 0. */
  hasOtherUsage?: boolean
  /** Absent = providers of every format. */
  providers?: FormatName[]
}

type ScenarioContext = { program: Program; provider: FormatName; files: { path: string; content: string }[] }

const FIXTURES = join(import.meta.dir, '..', '..', 'fixtures')
const FINAL_TEXT = 'Hello from the model.'

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'text turn',
    prompt: 'Say hello',
    respond: ({ provider }, call) => respondWith(TEXT, provider, isStream(call)),
    judge: ({ calls }) => (calls.length === 1 ? undefined : `${calls.length} calls`),
  },
  {
    name: 'two-tool turn',
    needsTool: true,
    prompt: 'Read a.txt and b.txt',
    respond: (context, call) =>
      hasContents(call, context) ? respondWith(TEXT, context.provider, isStream(call)) : readBoth(context, call),
    judge({ calls }, context) {
      if (calls.length !== 2) return `${calls.length} calls`
      const [, second] = calls
      return second && hasContents(second, context) ? undefined : 'the results of both tools did not arrive'
    },
  },
  {
    name: 'two-tool turn with signed thoughts',
    needsTool: true,
    prompt: 'Read a.txt and b.txt',
    providers: ['messages', 'generate-content', 'responses'],
    respond: (context, call) =>
      hasContents(call, context)
        ? respondWith(TEXT, context.provider, isStream(call))
        : readBoth(context, call, 'signed-tools'),
    judge({ calls }, context) {
      const [, second] = calls
      const trip = ROUND_TRIPS.find(({ signedBy, cities }) => signedBy === context.provider && cities.length === 2)
      const text = JSON.stringify(second?.body ?? {})
      if (!second || !hasContents(second, context)) return 'the results of both tools did not arrive'
      return trip?.proofs.every((proof) => text.includes(proof)) ? undefined : 'the signature did not come back'
    },
  },
  {
    name: 'an error in the middle of a stream',
    needsRetry: true,
    hasOtherUsage: true,
    prompt: 'Say hello',
    respond: ({ provider }, call, index) =>
      index === 0
        ? respondWith({ ...TEXT, fixture: 'matrix/error-mid-stream' }, provider, true)
        : respondWith(TEXT, provider, isStream(call)),
    judge({ calls }, { program }) {
      if (calls.length < 2) return 'it did not ask again'
      const isJson = calls.slice(1).some((call) => !isStream(call))
      return program === claudeCode && !isJson ? 'it did not ask for one piece' : undefined
    },
  },
  {
    name: 'a tool of a namespace',
    hasOtherUsage: true,
    prompt: 'End the other agent',
    only: codex,
    // To a provider of its own format the tools go as they are.
    providers: ['chat-completions', 'messages', 'generate-content'],
    respond({ provider }, call, index) {
      const name = /"name":"(\w+__close_agent)"/.exec(call.text)?.[1] ?? 'no_such_tool'
      const pieces = ['{"target":', '"nobody"}']
      return index === 0 ? speakCall(provider, { isStream: true, name, pieces }) : respondWith(TEXT, provider, true)
    },
    judge({ calls }) {
      const [, second] = calls
      if (!second) return 'it did not ask again'
      return /unsupported call/.test(second.text) ? 'it does not know the tool that it offered' : undefined
    },
  },
  {
    name: '/context (count_tokens)',
    prompt: '/context',
    only: claudeCode,
    respond: ({ provider }, call) => respondWith(TEXT, provider, isStream(call)),
    judge({ requests }) {
      const counts = requests.filter(({ path }) => path.startsWith('/v1/messages/count_tokens'))
      return counts.length > 5 ? undefined : `${counts.length} counts`
    },
  },
]

/** What holds for every scenario but one that prints something else. */
export function judgeOutput(outcome: Outcome, scenario: Scenario): string | undefined {
  const { exitCode, output, errors, requests } = outcome
  if (exitCode !== 0) return `exit code ${exitCode}: ${errors.slice(-500)}`
  const refused = requests.find(({ status }) => status >= 400)
  if (refused) return `${refused.method} ${refused.path} was answered with ${refused.status}`
  if (scenario.prompt.startsWith('/')) return undefined
  return output.includes(FINAL_TEXT) ? undefined : `it printed ${JSON.stringify(output.slice(0, 200))}`
}

/** The scenarios of a program. */
export function scenariosOf(program: Program): Scenario[] {
  return SCENARIOS.filter(
    ({ only, needsTool, needsRetry }) =>
      (only ?? program) === program && (!needsTool || program.tool) && !(needsRetry && program.endsAtError),
  )
}

/** The fault in what was charged; undefined if it is what the usage of the answers costs. */
export function judgeCharge(spent: number, { calls }: Outcome, { hasOtherUsage }: Scenario): string | undefined {
  if (hasOtherUsage) return calls.length > 0 && spent === 0 ? 'nothing was charged' : undefined
  const cost = calls.length * costOf(USAGE)
  return spent === cost ? undefined : `${spent} nano-USD were charged, not ${cost}`
}

function isStream({ path, body }: UpstreamCall): boolean {
  return body.stream === true || path.includes(':streamGenerateContent')
}

function hasContents({ body }: UpstreamCall, { files }: ScenarioContext): boolean {
  const text = JSON.stringify(body)
  return files.every(({ content }) => text.includes(content))
}

/** The answer that calls one tool twice, made into calls of the program's own tool. */
function readBoth(
  { program, provider, files }: ScenarioContext,
  call: UpstreamCall,
  answer = 'tools-same-name',
): Response {
  const extension = isStream(call) ? 'sse' : 'json'
  const fixture = readFileSync(join(FIXTURES, provider, 'matrix', `${answer}.${extension}`), 'utf8')
  const [first, second] = files
  const { name, path, before = '' } = program.tool ?? { name: '', path: '' }
  const text = fixture
    .replaceAll('get_weather', name)
    .replaceAll('city', path)
    .replaceAll('Oslo', before + (first?.path ?? ''))
    .replaceAll('Rome', before + (second?.path ?? ''))
  const type = isStream(call) ? 'text/event-stream' : 'application/json'
  return new Response(text, { headers: { 'content-type': type } })
}
