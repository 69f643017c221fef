/** A reload: all processes check their files, and only if all agree, one write makes them use the new catalogue. */
import type { Change } from '@/catalog/changes'
import type { Fault } from '@/lib/fault'
import { randomId } from '@/lib/ids'
import type { Member, Proposal, ReloadExchange } from './exchange'

/**
 * `taken`: has switched; `ready`: would switch, but others are not ready; `refused`: bad file; `silent`: no answer; `late`: has not
 * switched yet; `gone`: ended.
 */
type ProcessState = 'taken' | 'ready' | 'refused' | 'silent' | 'late' | 'gone'

export type ProcessOutcome = {
  gateway: string
  pid: number
  state: ProcessState
  /** Hash of the catalogue in use; for `ready`, of the new one. */
  hash: string
  changes: Change[]
  faults: Fault[]
}

/**
 * `unagreed`: not all processes were ready with the same catalogue. `overtaken`: the reload took too long. In both cases nothing changed.
 */
export type ReloadOutcome =
  | { kind: 'busy' | 'nobody' | 'overtaken' }
  | { kind: 'agreed' | 'unagreed'; hash: string | undefined; processes: ProcessOutcome[] }

type ReloadOptions = {
  exchange: ReloadExchange
  /** The gateway whose processes reload; null: all gateways. */
  gateway: string | null
  onProposed?: () => void
  /** Runs when all processes agree, for work that must commit together with the decision. Must call `decide` once and return its result. */
  agree?: (agreed: { hash: string; processes: ProcessOutcome[] }, decide: () => Promise<boolean>) => Promise<boolean>
}

/** How long to wait for another proposal to end. */
const OTHERS_MS = 15_000
const ANSWER_MS = 10_000
const FOLLOW_MS = 10_000
const POLL_MS = 50

/** Waits some seconds for another reload, then reloads. Rejects without Redis. A proposal is closed, or expires if its proposer dies. */
export async function reloadGateways(options: ReloadOptions): Promise<ReloadOutcome> {
  const { exchange, gateway, onProposed } = options
  const proposal: Proposal = { id: randomId('reload'), gateway }
  const deadlineMs = performance.now() + OTHERS_MS
  while (!(await exchange.propose(proposal))) {
    if (performance.now() > deadlineMs) return { kind: 'busy' }
    await Bun.sleep(POLL_MS)
  }
  try {
    onProposed?.()
    return await carryOut(options, proposal)
  } catch (error) {
    await exchange.decide(proposal, undefined).catch(() => undefined)
    throw error
  }
}

async function carryOut(options: ReloadOptions, proposal: Proposal): Promise<ReloadOutcome> {
  const { exchange, agree = (_, decide) => decide() } = options
  const keepOpen = async () => {
    await exchange.propose(proposal)
    return exchange.members()
  }
  const asked = await waitFor(keepOpen, proposal, ANSWER_MS, (member) => member.answer?.to === proposal.id)
  const processes = asked.map((member) => outcomeOf(member, proposal))
  const hashes = new Set(processes.map(({ state, hash }) => (state === 'ready' ? hash : undefined)))
  const [hash] = hashes
  if (hash === undefined || hashes.size > 1) {
    await exchange.decide(proposal, undefined)
    return processes.length === 0 ? { kind: 'nobody' } : { kind: 'unagreed', hash: undefined, processes }
  }
  if (!(await agree({ hash, processes }, () => exchange.decide(proposal, hash)))) return { kind: 'overtaken' }
  const askedIds = new Set(asked.map(({ id }) => id))
  const hasFollowed = (member: Member) => member.hash === hash || !askedIds.has(member.id)
  const after = await waitFor(exchange.members, proposal, FOLLOW_MS, hasFollowed)
  const states = new Map(after.map((member) => [member.id, member.hash === hash ? 'taken' : 'late'] as const))
  const followed = asked.map((member, index) => ({
    ...(processes[index] as ProcessOutcome),
    state: states.get(member.id) ?? ('gone' as const),
  }))
  return { kind: 'agreed', hash, processes: followed }
}

/** Waits until `isDone` for each living process of the gateway, or until the time is over. Returns the processes' states. */
async function waitFor(
  look: () => Promise<Member[]>,
  { gateway }: Proposal,
  timeoutMs: number,
  isDone: (member: Member) => boolean,
): Promise<Member[]> {
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    const members = (await look()).filter((member) => gateway === null || member.gateway === gateway)
    if (members.every(isDone) || performance.now() > deadlineMs) {
      return members.sort((one, other) => one.gateway.localeCompare(other.gateway) || one.pid - other.pid)
    }
    await Bun.sleep(POLL_MS)
  }
}

function outcomeOf({ gateway, pid, hash, answer }: Member, { id }: Proposal): ProcessOutcome {
  const nothing = { gateway, pid, hash, changes: [], faults: [] }
  if (answer?.to !== id) return { ...nothing, state: 'silent' }
  if (answer.kind === 'refused') return { ...nothing, state: 'refused', faults: answer.faults }
  return { ...nothing, state: 'ready', hash: answer.hash, changes: answer.changes }
}
