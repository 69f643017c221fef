/** The stages of one JSON request as pieces that can be called alone, each with what it really gets. */
import { type AppDeps, buildApp } from '@/app'
import { Meter } from '@/gateway/charge/meter'
import { answerChat } from '@/http/answer-chat'
import { authenticate } from '@/http/auth'
import { readJsonBody } from '@/http/body'
import type { Ledger } from '@/ledger/ledger'
import { assert } from '@/lib/assert'
import { randomId } from '@/lib/ids'
import { isJsonObject, parseJson } from '@/lib/json'
import { callUpstream } from '@/upstream/client'
import type { Piece } from './measure'
import type { Recording } from './recording'
import type { Sample } from './sample'
import { contextFor, PASS_HOOKS } from './stream-pieces'
import { stubLedger, stubUpstream } from './stubs'

/** Only there to be taken off what needs a new request each time. */
export const HARNESS = 'a new Request'
export const RESERVE_AND_SETTLE = 'reserve and settle, their client side'
export const UPSTREAM = 'upstream call alone, network and all'
export const UPSTREAM_STUBBED = 'upstream call without the network'
export const SETTLER = 'settler'
export const ANSWERED = 'use case, stubs for upstream and ledger'
export const ROUTED = 'the same behind its route'

const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_OUTPUT_TOKENS = 4_096

type PieceInput = { deps: AppDeps; sample: Sample; recording: Recording; answerText: string }

/** Pieces that end in this process. */
export function localPieces({ deps, sample, recording, answerText }: PieceInput): Piece[] {
  const { chat, json, format, plan } = sample
  const [planned] = plan.targets
  assert(planned, 'a plan has a target')
  const { signal } = new AbortController()
  const headersOnly = sample.request()
  const traits = {
    model: planned.target.model,
    maxOutputTokens: planned.model.maxOutputTokens,
    quirks: planned.target.quirks,
    accountId: 'acc_bench',
  }
  const origin = { clientFormat: format.name, session: undefined, allowedModels: null }
  const answerBytes = Buffer.from(answerText)
  return [
    { name: HARNESS, run: sample.request },
    { name: 'auth', run: () => authenticate(deps, headersOnly) },
    { name: 'body', run: () => readJsonBody(sample.request(), deps) },
    { name: 'decode request', run: () => format.decodeRequest(json, {}) },
    { name: 'plan', run: () => deps.router.plan(chat, origin) },
    { name: 'failover', run: () => travel(deps, sample, signal) },
    { name: 'encode request', run: () => JSON.stringify(format.passThrough.request(json, chat, traits)) },
    { name: 'decode answer', run: () => decodeAnswer(sample, answerBytes, planned.model.id) },
    {
      name: 'metrics',
      run() {
        deps.metrics.answered(recording.answered)
        deps.metrics.overhead(1)
      },
    },
    { name: 'log', run: recording.log },
  ]
}

/** The whole way of a request inside this process, and parts of it, with stubs where it would leave the process. */
export function stubbedPieces({ deps, sample, recording, answerText }: PieceInput): Piece[] {
  const stub = stubUpstream(answerText)
  const stubbed = stubLedger(deps, recording)
  const app = buildApp(stubbed)
  const endpoint = { format: sample.format, route: '/', line: {}, framing: sample.format.framing }
  const { settlement } = recording
  return [
    { name: UPSTREAM_STUBBED, run: upstreamCall(sample), stub },
    { name: SETTLER, run: () => stubbed.settler.resolve({ kind: 'settle', settlement }) },
    { name: ANSWERED, run: () => answerChat(stubbed, sample.request(), endpoint), stub },
    { name: ROUTED, run: () => app.handle(sample.request()), stub },
  ]
}

/** Pieces that wait for a server: the provider, and Redis, by a `ledger` of their own whose records nobody fetches. */
export function remotePieces({ sample, recording }: PieceInput, ledger: Ledger): Piece[] {
  const { reserve, settlement } = recording
  return [
    { name: UPSTREAM, run: upstreamCall(sample) },
    {
      name: RESERVE_AND_SETTLE,
      async run() {
        const holdId = randomId('req')
        await ledger.reserve({ ...reserve, holdId })
        await ledger.settle({ ...settlement, holdId, facts: { ...settlement.facts, requestId: holdId } })
      },
    },
  ]
}

async function travel(deps: AppDeps, { plan }: Sample, signal: AbortSignal): Promise<void> {
  const permit = await deps.router.begin(plan, { accountId: 'acc_bench', stream: false, signal }).next()
  permit?.began()
  permit?.ended(false)
}

function decodeAnswer({ format }: Sample, bytes: Uint8Array, publicModel: string): string {
  const text = new TextDecoder().decode(bytes)
  const json = parseJson(text)
  assert(isJsonObject(json), 'the answer is an object')
  const response = format.decodeResponse(json)
  assert(response, 'the answer is of the format')
  new Meter(MAX_OUTPUT_TOKENS).observeResponse(response)
  return format.passThrough.response(text, json, contextFor(publicModel), PASS_HOOKS)
}

function upstreamCall({ format, plan, bodyText }: Sample): () => Promise<void> {
  const [planned] = plan.targets
  const key = planned?.target.provider.keys[0]
  assert(planned && key, 'the provider has a key')
  return async () => {
    const { signal } = new AbortController()
    const answer = await callUpstream({ target: planned.target, key, format, stream: false, bodyText, signal })
    assert(answer.kind === 'answer', 'the upstream answers')
    await answer.readAll(MAX_ANSWER_BYTES)
  }
}
