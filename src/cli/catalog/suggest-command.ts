/** The command that writes a catalogue file for the models of a provider. */
import { stat, writeFile } from 'node:fs/promises'
import { loadCatalog } from '@/catalog/catalog'
import type { ListedModel, Suggestion } from '@/catalog/public-prices/suggest-models'
import type { SuggestedProvider } from '@/catalog/public-prices/suggested-providers'
import { type Command, type CommandResult, flag, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readText } from '@/cli/values'
import { catalogPathOf, type Environment } from '@/config/config'
import { formatFaults } from '@/lib/fault'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { listModels } from '@/upstream/model-list'

const DEFAULT_SERVICE = 'svc'
const DEFAULT_MARGIN = '10'
const MAX_MARGIN_PERCENT = 10_000
const MAX_PATH_CHARS = 4_096
const MAX_NAMES_CHARS = 10_000

export const CATALOG_SUGGEST: Command = {
  words: 'catalog suggest',
  help: 'asks a provider for its models and writes a catalogue file that sells them, with public prices and your margin',
  options: {
    provider: required('NAME', 'openai, anthropic, google or a preset'),
    margin: optional('PERCENT', 'how much each price is above the provider’s; otherwise 10'),
    file: optional('FILE', 'the file to write, which must not exist; otherwise catalog-NAME.json'),
    models: optional('NAMES', "only these, by the provider's own names, with commas between them"),
    all: flag('offers retired models and previews, too'),
    'base-url': optional('URL', 'the address of the provider, if it is not the usual one'),
  },
  runAlone: suggest,
}

async function suggest(values: Values, environment: Environment): Promise<CommandResult> {
  const name = readText(values, 'provider')
  const marginPercent = readMargin(values)
  const file = values.file === undefined ? `catalog-${name}.json` : readText(values, 'file', MAX_PATH_CHARS)
  const only = values.models === undefined ? undefined : readText(values, 'models', MAX_NAMES_CHARS).split(',')
  // Imported here, since the other commands don't need these lists of thousands of prices.
  const { publicModels, suggestedProvider, suggestedProviders } = await import(
    '@/catalog/public-prices/suggested-providers'
  )
  const provider = suggestedProvider(name, readBaseUrl(values))
  if (!provider)
    return fail(`--provider: nobody lists prices of ${name}; expected one of ${suggestedProviders().join(', ')}`)
  if (await exists(file)) return fail(`--file: ${file} exists already; name another file`)
  const service = await serviceOf(environment)
  const listed = provider.hasList ? await ownModels(provider, service, environment) : publicModels(provider)
  const { suggestModels } = await import('@/catalog/public-prices/suggest-models')
  const day = new Date().toISOString().slice(0, 10)
  const wish = { service, marginPercent, day, all: values.all !== undefined, only: only?.map((model) => model.trim()) }
  const suggestion = suggestModels(provider, listed, wish)
  const notes = [...notesOf(suggestion), ...unlistedNotes(wish.only ?? [], listed)]
  if (!suggestion.file)
    return fail([`none of the ${listed.length} models of ${name} can be offered`, ...notes].join('\n'))
  const text = `${JSON.stringify(suggestion.file, undefined, 2)}\n`
  const loaded = loadCatalog(text, environment)
  if (loaded.kind === 'faulty') return fail(formatFaults(`The entries of ${name} have faults:`, loaded.faults))
  await write(file, text)
  const { models, unknown, retired } = suggestion
  const counts = { listed: listed.length, models: models.length, unknown: unknown.length, retired: retired.length }
  return { output: { file, provider: name, marginPercent, asOf: day, ...counts }, notes }
}

function readMargin(values: Values): number {
  const text = values.margin === undefined ? DEFAULT_MARGIN : readText(values, 'margin')
  const percent = /^\d{1,5}(?:\.\d{1,2})?$/.test(text) ? Number(text) : Number.NaN
  if (percent <= MAX_MARGIN_PERCENT) return percent
  return fail(`--margin must be a percentage from 0 to ${MAX_MARGIN_PERCENT}, e.g. 20`)
}

function readBaseUrl(values: Values): string | undefined {
  if (values['base-url'] === undefined) return undefined
  const text = readText(values, 'base-url', MAX_PATH_CHARS)
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
    ? text
    : fail('--base-url must be an http:// or https:// address')
}

/** The models in the list that the provider returns for the operator's key. */
async function ownModels(
  { name, entry, format }: SuggestedProvider,
  service: string,
  environment: Environment,
): Promise<ListedModel[]> {
  const file = { service, providers: { [name]: entry }, models: [anyModel(service, name, format)] }
  const result = loadCatalog(JSON.stringify(file), environment)
  if (result.kind === 'faulty') return fail(formatFaults(`${name} can't be asked:`, result.faults))
  if (result.kind === 'no_keys') return fail(`${name} has no key: set ${keyNames(entry)}`)
  const provider = result.catalog.providers.get(name)
  if (!provider) return fail(`${name} has no key: set ${keyNames(entry)}`)
  const list = await listModels(provider)
  if (list.kind === 'failed') return fail(list.why)
  return list.models.length > 0 ? list.models : fail(`${name}: its list of models is empty`)
}

/** A placeholder model, since a catalogue without models is refused. */
function anyModel(service: string, provider: string, format: string): JsonObject {
  return {
    ...{ id: `${service}/any`, name: format, created: 0, ownedBy: provider, contextLength: 1, maxOutputTokens: 1 },
    targets: [{ provider, model: 'any' }],
    pricing: { inputPer1mTokens: 1, outputPer1mTokens: 1 },
  }
}

function keyNames({ keys }: JsonObject): string {
  return [...JSON.stringify(keys ?? '').matchAll(/[A-Z][A-Z0-9_]+/g)].map(([name]) => name).join(' or ')
}

function notesOf({ unknown, retired }: Suggestion): string[] {
  return [
    ...unknown.map(({ model, missing }) => `left out: ${model}: nobody lists ${missing.join(', ')}`),
    ...(retired.length > 0 ? [`left out, unless --all: ${retired.join(', ')}: retired or a preview`] : []),
  ]
}

function unlistedNotes(only: readonly string[], listed: readonly ListedModel[]): string[] {
  return only
    .filter((model) => listed.every(({ id }) => id !== model))
    .map((model) => `left out: ${model}: the provider does not list it`)
}

async function exists(file: string): Promise<boolean> {
  return await stat(file).then(
    () => true,
    () => false,
  )
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) =>
    fail(`--file: cannot write ${file} (${error.code ?? error.name})`),
  )
}

/** The service name of this installation's catalogue, with which model ids begin. */
async function serviceOf(environment: Environment): Promise<string> {
  const text = await Bun.file(catalogPathOf(environment))
    .text()
    .catch(() => '')
  const file = parseJson(text)
  return isJsonObject(file) && typeof file.service === 'string' ? file.service : DEFAULT_SERVICE
}
