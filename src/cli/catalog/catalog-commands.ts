/** Operator commands that check the catalogue file (faults, losses, changes, newer models), describe presets, and test a provider. */
import { resolve } from 'node:path'
import { loadCatalog } from '@/catalog/catalog'
import { changesBetween } from '@/catalog/changes'
import { PRESETS, type Preset } from '@/catalog/dialects/presets'
import { modelsAtALoss } from '@/catalog/losses'
import type { Catalog } from '@/catalog/types'
import { type Command, type CommandResult, OPERAND, operand } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readText } from '@/cli/values'
import { catalogPathOf, type Environment } from '@/config/config'
import { utcDayOf } from '@/lib/clock'
import { formatFaults } from '@/lib/fault'
import { formatUsd } from '@/lib/money'
import { PROBE_NAMES } from '@/upstream/trial/probes'
import { type Trial, tryProvider } from '@/upstream/trial/try-provider'
import { CATALOG_RELOAD } from './reload-command'
import { CATALOG_SUGGEST } from './suggest-command'

/** A placeholder: whether a provider has a key here doesn't affect the check of the file. */
const ANY_UPSTREAM = 'http://localhost'

function presetRow(name: string, { entry, needs, usage, reasoning, notes }: Preset) {
  const { format, baseUrl, auth, quirks } = entry
  const header = auth?.type === 'header' ? auth.name : undefined
  return {
    name,
    format,
    baseUrl: baseUrl ?? needs ?? null,
    auth: header ?? auth?.type ?? 'as the format has it',
    quirks: quirks ?? [],
    usage,
    reasoning,
    notes: notes ?? null,
  }
}

async function check(path: string, environment: Environment): Promise<CommandResult> {
  const result = await load(path, environment)
  if (result === undefined) return fail(`cannot read ${path}`)
  if (result.kind === 'faulty') return { output: { ok: false, file: path, faults: result.faults }, exitCode: 1 }
  if (result.kind === 'no_keys') return fail(`the catalogue ${path} offers no provider`)
  const { catalog, withoutKey, notOffered } = result
  const against = catalogPathOf(environment)
  const { newerGenerations } = await import('@/catalog/public-prices/newer-generations')
  const warnings = [...(catalog.warnings ?? []), ...newerGenerations(catalog, utcDayOf(Date.now()))]
  const running = resolve(against) === resolve(path) ? undefined : await load(against, environment)
  return {
    output: {
      ok: true,
      file: path,
      faults: [],
      ...(warnings.length > 0 && { warnings }),
      providers: catalog.providers.size,
      models: catalog.models.size,
      tiers: catalog.tiers.size,
      withoutKey,
      notOffered,
      expired: expiredModels(catalog),
      losses: modelsAtALoss(catalog).flatMap(({ model, losses }) => losses.map((loss) => ({ model, loss }))),
      ...(running?.kind === 'loaded' && { against, changes: changesBetween(running.catalog, catalog) }),
    },
  }
}

function expiredModels({ models }: Catalog) {
  const today = utcDayOf(Date.now())
  return [...models.values()].flatMap(({ id, expirationDate }) =>
    expirationDate !== undefined && expirationDate < today ? [{ model: id, expirationDate }] : [],
  )
}

async function load(path: string, environment: Environment) {
  const text = await Bun.file(path)
    .text()
    .catch(() => undefined)
  return text === undefined ? undefined : loadCatalog(text, environment, { sandboxBaseUrl: ANY_UPSTREAM })
}

export const PROVIDER_COMMANDS: readonly Command[] = [
  {
    words: 'provider test',
    help: 'tests each target of a provider in CATALOG by a few small requests, which the provider charges for',
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

export const CATALOG_COMMANDS: readonly Command[] = [
  {
    words: 'catalog check',
    help: 'checks a catalogue file as a start does; lists faults, losses, models with a newer generation, and changes against CATALOG',
    operand: operand('FILE', 'otherwise the file that CATALOG names', false),
    options: {},
    runAlone(values, environment) {
      const path = values[OPERAND] === undefined ? catalogPathOf(environment) : readText(values, OPERAND)
      return check(path, environment)
    },
  },
  {
    words: 'catalog presets',
    help: 'lists and describes the presets for providers in a catalogue file',
    options: {},
    runAlone: async () => ({ output: { presets: [...PRESETS].map(([name, preset]) => presetRow(name, preset)) } }),
  },
  CATALOG_SUGGEST,
  CATALOG_RELOAD,
]
