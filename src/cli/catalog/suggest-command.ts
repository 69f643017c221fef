/** The operator command that writes entries of the catalogue from public prices. */

import { type Command, type CommandResult, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readText } from '@/cli/values'
import { catalogPathOf, type Environment } from '@/config/config'
import { isJsonObject, parseJson } from '@/lib/json'

const DEFAULT_SERVICE = 'svc'
const MAX_MARGIN_PERCENT = 10_000

export const CATALOG_SUGGEST: Command = {
  words: 'catalog suggest',
  help: 'writes catalogue entries for the models of a provider, with public prices and your margin; what nobody lists is left open, by name',
  options: {
    provider: required('NAME', 'a preset, or openai, anthropic or google'),
    margin: required('PERCENT', 'how much above the listed cost each price is to be; 0 sells at cost'),
    models: optional('NAMES', "only these, by the provider's own names, with commas between them"),
  },
  runAlone: suggest,
}

async function suggest(values: Values, environment: Environment): Promise<CommandResult> {
  const name = readText(values, 'provider')
  const marginPercent = readMargin(values)
  // A catalogue that sells already need not load a list of thousands of prices.
  const { suggestModels, suggestedProviders } = await import('@/catalog/public-prices/suggest-models')
  const suggestion = suggestModels(name, {
    service: await serviceOf(environment),
    marginPercent,
    day: new Date().toISOString().slice(0, 10),
    only:
      values.models === undefined
        ? undefined
        : readText(values, 'models')
            .split(',')
            .map((model) => model.trim()),
  })
  if (!suggestion) return fail(`nobody lists prices of ${name}; known are ${suggestedProviders().join(', ')}`)
  const { source, asOf, providers, models, open, leftOut } = suggestion
  return { output: { source, asOf, marginPercent, providers, models, open, leftOut } }
}

function readMargin(values: Values): number {
  const text = readText(values, 'margin')
  const percent = /^\d{1,5}(?:\.\d{1,2})?$/.test(text) ? Number(text) : Number.NaN
  if (percent <= MAX_MARGIN_PERCENT) return percent
  return fail(`--margin must be a percentage from 0 to ${MAX_MARGIN_PERCENT}, e.g. 20`)
}

/** The word that ids begin with in the catalogue of this installation. */
async function serviceOf(environment: Environment): Promise<string> {
  const text = await Bun.file(catalogPathOf(environment))
    .text()
    .catch(() => '')
  const file = parseJson(text)
  return isJsonObject(file) && typeof file.service === 'string' ? file.service : DEFAULT_SERVICE
}
