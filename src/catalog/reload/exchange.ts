/** The Redis exchange by which processes agree on a reload. Only hashes and names are sent; each process reads its own file. */
import type { Change } from '@/catalog/changes'
import type { Fault } from '@/lib/fault'
import { isJsonObject, type JsonValue, parseJson } from '@/lib/json'
import beatText from './beat.lua' with { type: 'text' }
import decideText from './decide.lua' with { type: 'text' }
import proposeText from './propose.lua' with { type: 'text' }

export type Answer = { to: string } & (
  | { kind: 'ready'; hash: string; changes: Change[] }
  | { kind: 'refused'; faults: Fault[] }
)

/** A serving process's entry about itself. */
export type Member = {
  id: string
  /** The gateway's name, the same for all its processes. */
  gateway: string
  pid: number
  hash: string
  answer?: Answer
}

/** `gateway`: reloads only the processes of this gateway; null: of all gateways. */
export type Proposal = { id: string; gateway: string | null }
/** The decision to use the catalogue with this hash from now on. */
export type Agreement = Proposal & { hash: string }
type Plans = { proposal: Proposal | undefined; agreements: Agreement[] }

/** Every method rejects if Redis is unreachable. */
export interface ReloadExchange {
  /** Renews the lease of `member` ({@link LEASE_MS}), and returns the open proposal and the agreements. */
  beat(member: Member): Promise<Plans>
  leave(memberId: string): Promise<void>
  members(): Promise<Member[]>
  /** Opens or prolongs the proposal for {@link LEASE_MS}. False if another one is open. */
  propose(proposal: Proposal): Promise<boolean>
  /** Closes the proposal; with `hash`, also records an agreement. False if it had expired: then nothing changed. */
  decide(proposal: Proposal, hash: string | undefined): Promise<boolean>
}

/** Runs a script on one Redis key shared by all gateways. */
type RunScript = (text: string, name: string, args: (string | number)[]) => Promise<unknown>

/** The Redis key. It has routing's prefix, so that the Redis user needs no further rights. */
const NAME = 'routing:catalog'
/** How long a process counts as alive, and its proposal as valid, after its last message. */
const LEASE_MS = 5_000
/** Time for which an agreement is kept, for processes that were disconnected. */
const AGREEMENT_MS = 3_600_000

export function createReloadExchange(run: RunScript): ReloadExchange {
  return {
    async beat(member) {
      const reply = await run(beatText, NAME, [memberField(member.id), JSON.stringify(member), LEASE_MS, 'plans'])
      return readPlans(fieldsOf(reply))
    },
    async leave(memberId) {
      await run(beatText, NAME, [memberField(memberId), '{}', 0, 'plans'])
    },
    async members() {
      const reply = await run(beatText, NAME, ['', '', 0, 'members'])
      return fieldsOf(reply).flatMap(([, value]) => (isMember(value) ? [value] : []))
    },
    propose: async (proposal) => (await run(proposeText, NAME, [JSON.stringify(proposal), LEASE_MS])) === 1,
    async decide(proposal, hash) {
      const agreement = { ...proposal, hash }
      const agreed = hash === undefined ? ['', ''] : [`agreed:${proposal.gateway ?? '*'}`, JSON.stringify(agreement)]
      return (await run(decideText, NAME, [JSON.stringify(proposal), ...agreed, AGREEMENT_MS])) === 1
    },
  }
}

function memberField(id: string): string {
  return `member:${id}`
}

function fieldsOf(reply: unknown): [string, JsonValue | undefined][] {
  const texts = Array.isArray(reply) ? reply.map(String) : []
  const fields: [string, JsonValue | undefined][] = []
  for (let index = 0; index + 1 < texts.length; index += 2) {
    fields.push([texts[index] ?? '', parseJson(texts[index + 1] ?? '')])
  }
  return fields
}

/** Parses the proposal and agreements. Omits entries of an unknown form, which another version may have written. */
function readPlans(fields: [string, JsonValue | undefined][]): Plans {
  const plans: Plans = { proposal: undefined, agreements: [] }
  for (const [field, value] of fields) {
    if (!isProposal(value)) continue
    if (field === 'proposal') plans.proposal = value
    else if ('hash' in value && typeof value.hash === 'string') plans.agreements.push({ ...value, hash: value.hash })
  }
  return plans
}

function isProposal(value: JsonValue | undefined): value is Proposal {
  return (
    isJsonObject(value) && typeof value.id === 'string' && (value.gateway === null || typeof value.gateway === 'string')
  )
}

function isMember(value: JsonValue | undefined): value is Member {
  return (
    isJsonObject(value) &&
    typeof value.id === 'string' &&
    typeof value.gateway === 'string' &&
    typeof value.hash === 'string'
  )
}
