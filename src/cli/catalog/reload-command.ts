/** The operator command that makes all gateways on the same stores reload their catalogue: all of them or none. */
import { recordAudit } from '@/accounts/audit'
import { loadCatalog } from '@/catalog/catalog'
import type { Change } from '@/catalog/changes'
import { type ProcessOutcome, type ReloadOutcome, reloadGateways } from '@/catalog/reload/coordinate'
import { createReloadExchange } from '@/catalog/reload/exchange'
import type { Command, CommandResult } from '@/cli/command'
import { fail } from '@/cli/failure'
import type { Services } from '@/cli/services'
import { catalogPathOf, type Environment } from '@/config/config'

const ANY_UPSTREAM = 'http://localhost'
/** Characters of the changes that the audit log stores. */
const MAX_AUDITED_CHARS = 4_000

export const CATALOG_RELOAD: Command = {
  words: 'catalog reload',
  help: 'makes every gateway process read its CATALOG file again; all switch at once, or none does',
  options: {},
  checkFirst: findFaults,
  prepare: () => reload,
}

/** The local file's faults are reported before other processes are asked. */
async function findFaults(environment: Environment): Promise<CommandResult | undefined> {
  const file = catalogPathOf(environment)
  const text = await Bun.file(file)
    .text()
    .catch(() => fail(`CATALOG: cannot read ${file}`))
  const result = loadCatalog(text, environment, { sandboxBaseUrl: ANY_UPSTREAM })
  if (result.kind !== 'faulty') return undefined
  return { output: { ok: false, file, faults: result.faults }, exitCode: 1 }
}

async function reload({ redis, database, by }: Services): Promise<CommandResult> {
  const outcome = await reloadGateways({
    exchange: createReloadExchange((text, name, args) => redis.eval(text, 1, name, ...args)),
    gateway: null,
    // The decision is made inside the transaction of its audit entry, so there is no change without one.
    agree: ({ hash, processes }, decide) =>
      database.db
        .transaction(async (transaction) => {
          const details = { processes: processes.length, changes: describe(changesOf(processes)) }
          await recordAudit(transaction, { ...by, action: 'catalog.reload', subject: hash, accountId: null, details })
          if (!(await decide())) throw new Overtaken()
          return true
        })
        .catch((error: unknown) => {
          if (error instanceof Overtaken) return false
          throw error
        }),
  })
  return print(outcome)
}

class Overtaken extends Error {}

function print(outcome: ReloadOutcome): CommandResult {
  switch (outcome.kind) {
    case 'busy':
      return fail('another reload is under way; try again in some seconds')
    case 'nobody':
      return fail('no gateway runs on these stores')
    case 'overtaken':
      return fail('it took too long until all were ready; nothing has changed')
    case 'agreed': {
      const { hash, processes } = outcome
      // A process that has ended reads the file at its next start.
      const ok = processes.every(({ state }) => state !== 'late')
      const output = { ok, hash, processes: processes.map(stateOf), changes: changesOf(processes) }
      return ok ? { output } : { output, exitCode: 1 }
    }
    case 'unagreed': {
      const { processes } = outcome
      const faults = processes.flatMap((one) => one.faults.map((fault) => ({ ...nameOf(one), ...fault })))
      return {
        output: { ok: false, processes: processes.map(stateOf), faults, changes: proposalsOf(processes) },
        exitCode: 1,
      }
    }
  }
}

function nameOf({ gateway, pid }: ProcessOutcome) {
  return { gateway, pid }
}

function stateOf(one: ProcessOutcome) {
  return { ...nameOf(one), state: one.state, hash: one.hash }
}

function changesOf(processes: readonly ProcessOutcome[]): Change[] {
  const all = processes.flatMap(({ changes }) => changes.map((change) => [JSON.stringify(change), change] as const))
  return [...new Map(all).values()]
}

/** If the files differ: the changes of each file, by its hash. */
function proposalsOf(processes: readonly ProcessOutcome[]) {
  const ready = processes.filter(({ state }) => state === 'ready')
  const hashes = [...new Set(ready.map(({ hash }) => hash))]
  return hashes.flatMap((hash) =>
    changesOf(ready.filter((one) => one.hash === hash)).map((change) => ({ hash, ...change })),
  )
}

function describe(changes: readonly Change[]): string {
  const texts = changes.map(({ what, before, after }) => `${what}: ${before ?? 'none'} → ${after ?? 'none'}`)
  return texts.join('; ').slice(0, MAX_AUDITED_CHARS)
}
