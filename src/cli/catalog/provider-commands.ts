/** The operator command that asks a provider of the catalogue small questions, at its own price, and says what works. */
import { loadCatalog } from '@/catalog/catalog'
import { type Command, type CommandResult, OPERAND, operand } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readText } from '@/cli/values'
import { catalogPathOf, type Environment } from '@/config/config'
import { formatFaults } from '@/lib/fault'
import { formatUsd } from '@/lib/money'
import { PROBE_NAMES } from '@/upstream/trial/probes'
import { type Trial, tryProvider } from '@/upstream/trial/try-provider'

export const PROVIDER_COMMANDS: readonly Command[] = [
  {
    words: 'provider test',
    help: 'sends a few small requests, which the provider charges for, to each target of a provider in CATALOG, and says what works',
    operand: operand('NAME', 'the provider, as the catalogue names it'),
    options: {},
    runAlone: (values, environment) => test(readText(values, OPERAND), environment),
  },
]

async function test(name: string, environment: Environment): Promise<CommandResult> {
  const path = catalogPathOf(environment)
  const text = await Bun.file(path)
    .text()
    .catch(() => fail(`CATALOG: cannot read ${path}`))
  const result = loadCatalog(text, environment)
  if (result.kind === 'faulty') return fail(formatFaults(`The catalogue ${path} has faults:`, result.faults))
  const trials = result.kind === 'loaded' ? await tryProvider(result.catalog, name) : undefined
  if (!trials) return fail(`${path} offers no provider ${name}: it is not listed there, or its key is not set`)
  if (trials.length === 0) return fail(`no model for chats has a target at ${name} in ${path}`)
  const ok = trials.every(({ faults }) => faults.length === 0)
  const faults = trials.flatMap(({ model, target, faults: all }) => all.map((fault) => ({ model, target, ...fault })))
  const output = { ok, provider: name, targets: trials.map(rowOf), faults }
  return ok ? { output } : { output, exitCode: 1 }
}

function rowOf(trial: Trial) {
  const { model, target, usage, firstTokenMs, cost } = trial
  const verdicts = Object.fromEntries(PROBE_NAMES.map((name) => [name, trial[name]]))
  return { model, target, ...verdicts, usage, firstTokenMs, costUsd: cost === null ? null : formatUsd(cost) }
}
