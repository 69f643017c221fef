/** One process in a reload: reports that it is alive, checks its file, and switches to the new catalogue once agreed. */

import { catalogSecrets } from '@/catalog/catalog'
import { changesBetween } from '@/catalog/changes'
import { modelsAtALoss } from '@/catalog/losses'
import type { Clock } from '@/lib/clock'
import { randomId } from '@/lib/ids'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop } from '@/lib/worker-loop'
import type { CatalogFile, CatalogReading } from './catalog-file'
import { reloadGateways } from './coordinate'
import type { Agreement, Answer, Member, Proposal, ReloadExchange } from './exchange'
import type { LiveCatalog } from './live-catalog'

/** `abandoned`: this process was ready, but others were not. `missed`: its file differs from the agreed catalogue. */
type ReloadTotals = Record<'taken' | 'refused' | 'abandoned' | 'missed', number>

export type CatalogState = { hash: string; loadedAtMs: number; reloads: Readonly<ReloadTotals> }

export interface ReloadParticipant extends BackgroundWorker {
  /** Proposes a reload to this gateway's processes and completes it. Never rejects: the outcome is logged. */
  reload(): Promise<void>
  state(): CatalogState
}

type ParticipantOptions = {
  exchange: ReloadExchange
  catalog: LiveCatalog
  file: CatalogFile
  gateway: string
  /** Called with a catalogue's secrets before it is used, so that logs redact them. */
  learnSecrets(secrets: string[]): void
  clock: Clock
  logger: Logger
}

/** Milliseconds between beats, which renew the lease. A lease lasts for at least two beats. */
const BEAT_MS = 2_000
const QUICK_BEAT_MS = 50
/** Maximum changes and faults in one log entry. */
const MAX_CHANGES = 100
const MAX_FAULTS = 50
const MAX_KNOWN_AGREEMENTS = 100

type Candidate = { to: string; reading: Extract<CatalogReading, { kind: 'loaded' }> }
type State = {
  member: Member
  candidate: Candidate | undefined
  loadedAtMs: number
  reloads: ReloadTotals
  /** Agreements that this process has followed, or that don't concern it. */
  known: Set<string>
}

export function createReloadParticipant(options: ParticipantOptions): ReloadParticipant {
  const { exchange, catalog, file, gateway, clock, logger } = options
  const state: State = {
    member: {
      ...{ id: randomId('proc'), gateway, pid: process.pid, hash: file.hashOf(catalog.current) },
    },
    candidate: undefined,
    loadedAtMs: clock.now(),
    reloads: { taken: 0, refused: 0, abandoned: 0, missed: 0 },
    known: new Set(),
  }
  let isReachable = true
  const loop = createWorkerLoop({
    async round() {
      const pauseMs = await beat(options, state)
      isReachable = true
      return pauseMs
    },
    onFailure(error) {
      if (isReachable) logger.warn('catalog_exchange_unreachable', { error })
      isReachable = false
      return BEAT_MS
    },
  })
  return {
    start: loop.start,
    async stop() {
      await loop.stop()
      await exchange.leave(state.member.id).catch(() => undefined)
    },
    state: () => ({ hash: state.member.hash, loadedAtMs: state.loadedAtMs, reloads: state.reloads }),
    async reload() {
      try {
        // Registers this process first, since it may have just started or been disconnected.
        await exchange.beat(state.member)
        const outcome = await reloadGateways({ exchange, gateway, onProposed: () => loop.hurry(0) })
        if (outcome.kind === 'busy') logger.error('catalog_reload_busy')
        else if (outcome.kind === 'overtaken') logger.error('catalog_refused', { reason: 'not all were ready in time' })
      } catch (error) {
        logger.error('catalog_refused', { error })
      }
    },
  }
}

/** Reads proposal and agreements once. Returns the milliseconds until the next beat. */
async function beat(options: ParticipantOptions, state: State): Promise<number> {
  const { member } = state
  const { proposal, agreements } = await options.exchange.beat(member)
  for (const agreement of agreements) {
    if (!concerns(agreement, member) || state.known.has(agreement.id)) continue
    await follow(options, state, agreement)
    return 0
  }
  if (!proposal || !concerns(proposal, member)) {
    if (state.candidate) abandon(options, state)
    delete member.answer
    return BEAT_MS
  }
  if (member.answer?.to === proposal.id) return QUICK_BEAT_MS
  member.answer = await prepare(options, state, proposal)
  return 0
}

function concerns({ gateway }: Proposal, member: Member): boolean {
  return gateway === null || gateway === member.gateway
}

async function prepare({ file, catalog, logger }: ParticipantOptions, state: State, { id }: Proposal): Promise<Answer> {
  const reading = await file.read()
  if (reading.kind === 'refused') {
    state.reloads.refused++
    logger.error('catalog_refused', { faults: reading.faults.slice(0, MAX_FAULTS) })
    return { to: id, kind: 'refused', faults: reading.faults.slice(0, MAX_FAULTS) }
  }
  state.candidate = { to: id, reading }
  const changes = changesBetween(catalog.current, reading.catalog).slice(0, MAX_CHANGES)
  return { to: id, kind: 'ready', hash: reading.hash, changes }
}

/** Follows an agreement made while this process was disconnected, if its file has the agreed catalogue. */
async function follow(options: ParticipantOptions, state: State, agreement: Agreement): Promise<void> {
  const { candidate, known, member } = state
  known.add(agreement.id)
  if (known.size > MAX_KNOWN_AGREEMENTS) known.delete([...known][0] ?? '')
  state.candidate = undefined
  delete member.answer
  if (candidate?.to === agreement.id) return take(options, state, candidate.reading)
  if (agreement.hash === member.hash) return
  const reading = await options.file.read()
  if (reading.kind === 'loaded' && reading.hash === agreement.hash) return take(options, state, reading)
  state.reloads.missed++
  options.logger.warn('catalog_differs', { agreed: agreement.hash, hash: member.hash })
}

function take(
  { catalog, learnSecrets, clock, logger }: ParticipantOptions,
  state: State,
  reading: Candidate['reading'],
): void {
  const before = catalog.current
  const changes = changesBetween(before, reading.catalog)
  state.reloads.taken++
  state.loadedAtMs = clock.now()
  const hashBefore = state.member.hash
  if (reading.hash !== hashBefore) {
    learnSecrets(catalogSecrets(reading.catalog))
    state.member.hash = reading.hash
    catalog.replace(reading.catalog)
  }
  const listed = changes.slice(0, MAX_CHANGES)
  logger.info('catalog_reloaded', {
    hash: reading.hash,
    before: hashBefore,
    changeCount: changes.length,
    changes: listed,
  })
  const known = new Set(modelsAtALoss(before).map((loss) => JSON.stringify(loss)))
  for (const loss of modelsAtALoss(reading.catalog)) {
    if (!known.has(JSON.stringify(loss))) logger.warn('price_below_cost', loss)
  }
}

function abandon({ logger }: ParticipantOptions, state: State): void {
  state.candidate = undefined
  state.reloads.abandoned++
  logger.warn('catalog_reload_abandoned', { hash: state.member.hash })
}
