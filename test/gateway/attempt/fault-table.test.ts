/**
 * Every fault of a provider at every moment, in all formats, as JSON and stream, with and without a fallback model:
 * status, calls, headers and charge. The table is in faults.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  FORMATS,
  type FormatName,
  type ScriptedModels,
  soundAnswer,
  startScriptedModels,
} from '@test/gateway/scripted-models'
import { requestOf } from '@test/routing/world'
import { openSilentAddress, type SilentAddress } from '@test/support/silent-address'
import { until } from '@test/support/until'
import { type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import { type RawProvider, startRawProvider } from '@test/upstream/raw-provider'
import { BREAKS, FAULTS, type Fault, HALF_WAY, TIMEOUTS } from './faults'
import { WORDS } from './provider-words'

/** The model that is sound, at a provider of chat-completions. */
const SOUND = 'svc/alpha'
/** Ten tokens of input and five of output, at 1 and 2 USD per million. */
const SOUND_COST = 20_000
/** Retries are a tenth of the requests: so many are planned beside each row's, and never sent. */
const UNSENT_REQUESTS = 400

let world: ScriptedModels
let silent: SilentAddress
let plain: ScriptedUpstream
let reset: RawProvider
let answersOfSound = 0
let callsOfSound = 0

beforeAll(async () => {
  silent = await openSilentAddress()
  plain = startUpstream(() => new Response())
  reset = startRawProvider((socket) => socket.terminate())
  const closed = startUpstream(() => new Response())
  closed.stop()
  world = await startScriptedModels(
    { timeouts: TIMEOUTS },
    {},
    {
      refused: closed.url,
      // Too long for a name, so that no name server is asked, whose delay would be another fault.
      unknown: `http://${'x'.repeat(64)}.invalid`,
      reset: reset.url,
      plain: plain.url.replace('http:', 'https:'),
      silent: `http://127.0.0.1:${silent.port}`,
    },
    {},
    200,
  )
  // A stream that waits for long is begun with signs of life, and has no status to look at: not here, however busy the machine.
  world.gateway.gateway.deps.lateAfterMs = TIMEOUTS.totalMs
  world.script((call) => {
    callsOfSound++
    return soundAnswer('chat-completions', call.body.stream === true)
  })
})
afterAll(async () => {
  await world.gateway.stop()
  await silent.stop()
  plain.stop()
  reset.stop()
})

type Case = { format: FormatName; stream: boolean; hasFallback: boolean }

function casesOf(...streams: boolean[]): Case[] {
  return FORMATS.flatMap((format) =>
    streams.flatMap((stream) => [false, true].map((hasFallback) => ({ format, stream, hasFallback }))),
  )
}

async function allowRetries(): Promise<void> {
  const { router } = world.gateway.gateway.deps
  const plan = await router.plan(requestOf({ model: SOUND }), { clientFormat: 'chat-completions', session: undefined })
  const signal = AbortSignal.abort()
  for (let request = 0; request < UNSENT_REQUESTS; request++) {
    router.begin(plan, { accountId: world.customer.accountId, stream: false, signal })
  }
}

/** The result of one request, beside what the table says of it. */
async function play(fault: Fault, { format, stream, hasFallback }: Case) {
  const { provider, alone, callsBefore, reason, retryAfter } = fault
  const model =
    typeof provider === 'string' ? world.modelAt(format, provider) : world.modelWith(format, provider(format, stream))
  const fallback = hasFallback ? [SOUND] : []
  const { response, text } = await world.ask({ format, model, stream, fallback })
  const header = (name: string) => response.headers.get(`x-svc-${name}`)
  const isServed = hasFallback && callsBefore > 0
  const trail = isServed ? (header('route-reason') ?? '').replace(`fallback; ${model} `, '') : trailOf(response)
  if (isServed) answersOfSound++
  return {
    met: {
      status: response.status,
      model: header('model'),
      attempts: header('attempts'),
      retryAfter: response.headers.get('retry-after'),
      reasons: trail.split(', ').every((word) => reason.test(word.replace(/^.*=/, ''))) || trail,
      says: wordIn(text),
    },
    expected: {
      status: isServed ? 200 : statusIn(format, alone[0]),
      model: isServed ? SOUND : null,
      attempts: String(isServed ? callsBefore + 1 : alone[1]),
      retryAfter: isServed ? null : (retryAfter ?? null),
      ...{ reasons: true, says: isServed ? 'Sound' : 'an error' },
    },
  }
}

/** Clients of messages know an overload by a status of its own. */
function statusIn(format: FormatName, number: number): number {
  return format === 'messages' && number === 503 ? 529 : number
}

function wordIn(text: string): string {
  const words = [
    /"So[\s\S]*und"/.test(text) && 'Sound',
    text.includes('Half') && 'half',
    /"error":(?! ?null)|event: error/.test(text) && 'an error',
  ]
  return words.filter(Boolean).join(', ')
}

/** The attempts of a refusal, without their models. */
function trailOf(response: Response): string {
  return response.headers.get('x-svc-attempt-list') ?? ''
}

function nameOf({ format, stream, hasFallback }: Case): string {
  return `${format}, ${stream ? 'stream' : 'JSON'}, ${hasFallback ? 'with a fallback' : 'alone'}`
}

/** Plays all cases at once, so that waiting takes no longer than one of them. */
async function expectRow(fault: Fault, cases: Case[]): Promise<void> {
  await allowRetries()
  const played = await Promise.all(cases.map(async (one) => ({ name: nameOf(one), ...(await play(fault, one)) })))
  const column = (which: 'met' | 'expected') => Object.fromEntries(played.map((one) => [one.name, one[which]]))
  expect(column('met')).toEqual(column('expected'))
}

describe('faults before content', () => {
  test.each(FAULTS.map((fault) => [fault.name, fault] as const))(
    'before content, a stream has the table’s outcome if its provider %s',
    async (_, fault) => {
      await expectRow(fault, casesOf(false, true))
    },
  )
})

describe('faults of a provider when JSON is requested', () => {
  test.each(HALF_WAY.map((fault) => [fault.name, fault] as const))(
    'a JSON request has the table’s outcome if its provider %s',
    async (_, fault) => {
      await expectRow(fault, casesOf(false))
    },
  )
})

describe('faults of a provider after content', () => {
  test.each(BREAKS)('after content, a stream has the table’s outcome if its provider %s', async (_, behaviour) => {
    const [before, payer] = [callsOfSound, await world.gateway.customer('1')]
    const cases = casesOf(true)
    const met = await Promise.all(
      cases.map(async ({ format, hasFallback }) => {
        const { script, onText } = behaviour(format)
        const model = world.modelWith(format, script)
        const { response, text } = await world.ask({
          ...{ format, model, stream: true, fallback: hasFallback ? [SOUND] : [] },
          headers: { authorization: `Bearer ${payer.key}` },
          onText: (text) => text.includes('Half') && onText?.(),
        })
        const isPrimary = response.headers.get('x-svc-model') === model
        const hasEnd = text.includes(WORDS[format].ending)
        return [response.status, wordIn(text), { isPrimary, hasEnd }]
      }),
    )
    const expected = [200, 'half, an error', { isPrimary: true, hasEnd: false }]
    expect(met).toEqual(cases.map(() => expected))
    expect(callsOfSound).toBe(before)
  })
})

test('only complete answers were charged', async () => {
  await until(async () => {
    const { held, spent } = await world.gateway.balance(world.customer.accountId)
    return held === 0 && spent === answersOfSound * SOUND_COST
  }, `${answersOfSound} answers to be paid`)
})
