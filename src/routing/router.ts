/** Routing's interface for the gateway: makes plans, runs requests through them, and shares health data with other gateways. */
import { findSold } from '@/catalog/aliases'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import type { Catalog, MediaKind, Target } from '@/catalog/types'
import type { EmbeddingRequest } from '@/chat/embedding'
import { GatewayError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { ChatRequest } from '@/chat/request'
import type { MediaRequest } from '@/formats/media-call'
import type { Clock } from '@/lib/clock'
import type { Soon } from '@/lib/wait/soon'
import { type Failover, type RequestContext, startFailover } from '@/routing/failover/failover'
import type { RoutingParts } from '@/routing/failover/permit'
import { createRetryBudget } from '@/routing/failover/retry-budget'
import type { RoutingListener, RoutingStatus } from '@/routing/failover/routing-events'
import { createBackoffWindows } from '@/routing/health/backoff-windows'
import { createCircuitBreaker } from '@/routing/health/circuit-breaker'
import { createConcurrencyLimiter } from '@/routing/health/concurrency'
import { type HealthExchange, type HealthNote, NO_EXCHANGE } from '@/routing/health/health-exchange'
import { createKeyCalls } from '@/routing/health/key-calls'
import { createKeyPool } from '@/routing/health/key-pool'
import { createLatencies, FORGOTTEN_AFTER_MS } from '@/routing/health/latency'
import { goneBetween } from '@/routing/health/renewal'
import { targetId } from '@/routing/health/target-id'
import { createThroughputs } from '@/routing/health/throughput'
import { outranks, type TierChoice } from '@/routing/plan/choose'
import { buildPlan, type Plan } from '@/routing/plan/plan'
import { buildEmbeddingPlan, type EmbeddingPlan } from '@/routing/plan/plan-embedding'
import { buildMediaPlan, type MediaPlan } from '@/routing/plan/plan-media'
import type { Permitted } from '@/routing/plan/refusal'
import type { RouteView } from '@/routing/plan/route-view'
import { conversationOf, type Session, sessionOf } from '@/routing/plan/session'
import { createStickiness, type SessionKeeper, type Stickiness } from '@/routing/plan/stickiness'
import { explainPlan, type HoldOf, type RouteExplanation } from './explain'

export interface Router {
  /** The conversation of a request to a tier; `name` is the caller's name of it. Undefined for requests to a model. */
  sessionOf(request: ChatRequest, accountId: string, name: string | undefined): Session | undefined
  /** A permanent id of any request's conversation. */
  conversationOf(request: ChatRequest, accountId: string, name: string | undefined): string | undefined
  /**
   * Plans a request. Throws errors of `buildPlan`, and `overloaded` if every provider of the plan would refuse it. Only a request to a tier
   * has a session, and may briefly wait for Redis; all others are planned at once.
   */
  plan(request: ChatRequest, origin: Origin): Soon<Plan>
  /** Plans a request for embeddings. Throws errors of `buildEmbeddingPlan`, and `overloaded` like `plan`. */
  planEmbedding(request: EmbeddingRequest, permitted: Permitted): EmbeddingPlan
  /** Plans a request for speech, a picture and the like. Throws errors of `buildMediaPlan`, and `overloaded` like `plan`. */
  planMedia(kind: MediaKind, request: MediaRequest, permitted: Permitted): MediaPlan
  /** The plan as data, for callers who want to see it. */
  explain(plan: Plan, request: ChatRequest, holdOf: HoldOf): RouteExplanation
  begin(plan: Plan, context: RequestContext): Failover
  /** Notes that this model has begun to answer, so that the conversation keeps it. */
  remember(plan: Plan, modelId: string, session: Session | undefined): void
  status(): RoutingStatus
  /** Usual milliseconds until an answer of `target` begins; undefined if unknown. */
  latencyMs(target: Target, stream: boolean): number | undefined
  /** Uses `next` for plans from now on. Keeps the health data of remaining upstreams. */
  renew(next: Catalog, before: Catalog): void
  start(): void
  stop(): Promise<void>
}

export type Origin = Permitted & { clientFormat: FormatName; session: Session | undefined }

type RouterOptions = {
  catalog: CatalogSource
  clock: Clock
  random?: () => number
  exchange?: HealthExchange
  sessions?: SessionKeeper
  onEvent?: RoutingListener
}

/** Other gateways see our open circuit as open for this much longer than we do, since our probe takes time. */
const PROBE_MS = 10_000
const TICK_MS = 1_000
/** The interval for publishing new latencies. */
const TELL_MS = 10_000

/** Creates the router of one process. */
export function createRouter(options: RouterOptions): Router {
  const { catalog, clock, exchange = NO_EXCHANGE } = options
  const parts = createParts(options, exchange)
  const view = viewOf(parts)
  const stickiness = createStickiness(clock, options.sessions)
  let ticking: Timer | undefined
  let telling: Timer | undefined

  function planFor(request: ChatRequest, origin: Origin, kept?: string) {
    const options = { ...origin, view, stickyModelId: kept }
    const plan = buildPlan(catalog.current, request, options)
    refuseIfOverloaded(parts, plan)
    return plan
  }

  return {
    sessionOf(request, accountId, name) {
      const sold = findSold(catalog.current, request.model)
      if (!sold || !('candidates' in sold)) return undefined
      return sessionOf(accountId, sold.id === request.model ? request : { ...request, model: sold.id }, name)
    },
    conversationOf: (request, accountId, name) => conversationOf(accountId, request, name),
    plan(request, origin) {
      exchange.stayClose()
      const { session } = origin
      const kept = session && stickiness.recall(session)
      if (kept instanceof Promise) return kept.then((model) => planFor(request, origin, model))
      return planFor(request, origin, kept)
    },
    planEmbedding(request, permitted) {
      exchange.stayClose()
      const plan = buildEmbeddingPlan(catalog.current, request, { ...permitted, view })
      refuseIfOverloaded(parts, plan)
      return plan
    },
    planMedia(kind, request, permitted) {
      exchange.stayClose()
      const plan = buildMediaPlan(catalog.current, kind, request, { ...permitted, view })
      refuseIfOverloaded(parts, plan)
      return plan
    },
    explain: (plan, request, holdOf) => explainPlan(plan, request, holdOf, view),
    begin: (plan, context) => startFailover(parts, plan, context),
    remember(plan, modelId, session) {
      if (session && plan.choice) keepModel(stickiness, session, plan.choice, modelId)
    },
    status: () => ({
      circuits: parts.breaker.list(),
      keys: parts.keys.resting(),
      draining: parts.calls.draining(),
      providers: parts.limiter.list(),
    }),
    latencyMs: view.latencyMs,
    renew: (next, before) => renewParts(parts, next, before),
    start() {
      exchange.start((notes) => adoptNotes(parts, notes))
      ticking = setInterval(parts.breaker.tick, TICK_MS)
      telling = setInterval(() => tellLatencies(parts, exchange), TELL_MS)
    },
    async stop() {
      clearInterval(ticking)
      clearInterval(telling)
      await exchange.stop()
    },
  }
}

function createParts(options: RouterOptions, exchange: HealthExchange): RoutingParts {
  const { clock, random = Math.random, onEvent: notify = () => undefined } = options
  const breaker = createCircuitBreaker({
    clock,
    random,
    onChange(id, state, forMs) {
      if (state === 'open') exchange.publish(`target:${id}`, 'open', forMs + PROBE_MS)
      else exchange.withdraw(`target:${id}`)
      notify({ type: 'circuit', target: id, state })
    },
  })
  const keys = createKeyPool({
    clock,
    random,
    onRest(id, { state, forMs }) {
      exchange.publish(`key:${id}`, state, forMs)
      if (state === 'cooling') notify({ type: 'key-cooling', key: id, forMs })
    },
    onRevival: (id) => exchange.withdraw(`key:${id}`),
    onOut: (provider, key, status) => notify({ type: 'key-out', provider: provider.name, key: key.id, status }),
  })
  return {
    clock,
    random,
    breaker,
    keys,
    calls: createKeyCalls((key) => notify({ type: 'key-drained', key })),
    backoffs: createBackoffWindows(clock, (id, forMs) => exchange.publish(`promise:${id}`, 'cooling', forMs)),
    trials: new Set(),
    limiter: createConcurrencyLimiter(),
    latency: createLatencies(clock),
    throughput: createThroughputs(clock),
    budget: createRetryBudget(clock),
    notify,
    pause: pauseUnlessAborted,
  }
}

function renewParts(parts: RoutingParts, next: Catalog, before: Catalog): void {
  const isGone = goneBetween(before, next)
  parts.keys.renew(next.providers, isGone)
  parts.calls.renew(next, before)
  parts.limiter.renew(next.providers)
  for (const learnt of [parts.breaker, parts.backoffs, parts.latency, parts.throughput]) learnt.forget(isGone)
}

function viewOf({ breaker, keys, latency, throughput }: RoutingParts): RouteView {
  return {
    isUsable: (target: Target) => keys.hasUsable(target.provider) && breaker.admits(targetId(target)),
    failureRate: (target) => breaker.failureRate(targetId(target)),
    latencyMs: (target, stream) => latency.usual(targetId(target), stream),
    throughput: (target) => throughput.usual(targetId(target)),
  }
}

/** Notes the conversation's model. If a stronger model only failed to answer this once, the conversation keeps the stronger one. */
function keepModel(stickiness: Stickiness, session: Session, choice: TierChoice, modelId: string): void {
  if (!choice.models.some(({ id }) => id === modelId)) return
  const before = choice.session?.modelId
  const kept = before !== undefined && outranks(choice, before, modelId) ? before : modelId
  stickiness.remember(session, kept, (held) => outranks(choice, held, kept))
}

/** Refuses the request if every provider is overloaded. Called before the hold, so that a refusal costs almost nothing. */
function refuseIfOverloaded(parts: RoutingParts, plan: Plan): void {
  for (const { target } of plan.targets) if (!parts.limiter.isOverloaded(target.provider)) return
  const provider = plan.targets[0]?.target.provider.name ?? ''
  parts.notify({ type: 'shed', provider })
  throw new GatewayError('overloaded', 'The model provider is busy. Try again.', {
    code: 'provider_busy',
    retryAfterSeconds: 1,
    cause: `${provider}: too many calls in flight`,
  })
}

function adoptNotes(parts: RoutingParts, notes: readonly HealthNote[]): void {
  const open = new Set<string>()
  for (const { subject, state, remainingMs, isOwn } of notes) {
    const id = subject.slice(subject.indexOf(':') + 1)
    if (typeof state === 'number') {
      if (!isOwn) parts.latency.adopt(id, subject.startsWith('stream:'), state)
    } else if (state === 'open') {
      open.add(id)
      if (!isOwn) parts.breaker.adopt(id, remainingMs)
    } else if (isOwn) continue
    else if (subject.startsWith('promise:')) parts.backoffs.adopt(id, remainingMs)
    else parts.keys.adopt(id, { state, forMs: remainingMs })
  }
  parts.breaker.closeAdoptedExcept(open)
}

/** Shares latencies, so that a new gateway knows how long each target is usually silent. */
function tellLatencies({ latency }: RoutingParts, exchange: HealthExchange): void {
  for (const { id, stream, slowestMs } of latency.takeNews()) {
    exchange.publish(`${stream ? 'stream' : 'whole'}:${id}`, Math.ceil(slowestMs), FORGOTTEN_AFTER_MS)
  }
}

async function pauseUnlessAborted(milliseconds: number, signal: AbortSignal): Promise<void> {
  const elapsed = Promise.withResolvers<void>()
  const timer = setTimeout(elapsed.resolve, milliseconds)
  const onAbort = () => elapsed.resolve()
  signal.addEventListener('abort', onAbort)
  await elapsed.promise
  clearTimeout(timer)
  signal.removeEventListener('abort', onAbort)
}
