/** Operator commands about the catalogue file: what is wrong with one, what it would sell at a loss, and what it would change. */
import { resolve } from 'node:path'
import { loadCatalog } from '@/catalog/catalog'
import { changesBetween } from '@/catalog/changes'
import { PRESETS, type Preset } from '@/catalog/dialects/presets'
import { modelsAtALoss } from '@/catalog/losses'
import { type Command, type CommandResult, OPERAND, operand } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readText } from '@/cli/values'
import { catalogPathOf, type Environment } from '@/config/config'
import { CATALOG_RELOAD } from './reload-command'
import { CATALOG_SUGGEST } from './suggest-command'

/** Whether any provider has a key here changes nothing of what a file says. */
const ANY_UPSTREAM = 'http://localhost'

export const CATALOG_COMMANDS: readonly Command[] = [
  {
    words: 'catalog check',
    help: 'reads a catalogue file as a start would, and says every fault, every loss, and what it changes against CATALOG',
    operand: operand('FILE', 'otherwise the file that CATALOG names', false),
    options: {},
    runAlone(values, environment) {
      const path = values[OPERAND] === undefined ? catalogPathOf(environment) : readText(values, OPERAND)
      return check(path, environment)
    },
  },
  {
    words: 'catalog presets',
    help: 'lists the presets that a provider of the catalogue file may name, with what each stands for',
    options: {},
    runAlone: async () => ({ output: { presets: [...PRESETS].map(([name, preset]) => presetRow(name, preset)) } }),
  },
  CATALOG_SUGGEST,
  CATALOG_RELOAD,
]

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
  const running = resolve(against) === resolve(path) ? undefined : await load(against, environment)
  return {
    output: {
      ok: true,
      file: path,
      faults: [],
      ...(catalog.warnings?.length && { warnings: catalog.warnings }),
      providers: catalog.providers.size,
      models: catalog.models.size,
      tiers: catalog.tiers.size,
      withoutKey,
      notOffered,
      losses: modelsAtALoss(catalog).flatMap(({ model, losses }) => losses.map((loss) => ({ model, loss }))),
      ...(running?.kind === 'loaded' && { against, changes: changesBetween(running.catalog, catalog) }),
    },
  }
}

async function load(path: string, environment: Environment) {
  const text = await Bun.file(path)
    .text()
    .catch(() => undefined)
  return text === undefined ? undefined : loadCatalog(text, environment, { sandboxBaseUrl: ANY_UPSTREAM })
}
