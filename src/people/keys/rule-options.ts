/** The options of commands for the rules that accounts, members and keys have: models, providers, retention, training and regions. */
import { findSold } from '@/catalog/aliases'
import type { Catalog } from '@/catalog/types'
import { REGION_PATTERN } from '@/chat/preferences'
import { optional, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readChoice } from '@/cli/values'
import { KEY_FIELDS, type KeyRules } from './fields'

const EVERY = 'every'
const REGION = new RegExp(REGION_PATTERN)

export const RULE_OPTIONS = {
  models: optional('LIST', `ids or aliases such as svc/alpha,svc/beta, or ${EVERY}; left out, it stays`),
  providers: optional('LIST', `names of the catalogue, or ${EVERY}; left out, it stays`),
  'zero-retention': optional('yes|no', 'whether only providers answer that keep no content; left out, it stays'),
  'no-training': optional('yes|no', 'whether only providers answer that train no models on content; as above'),
  regions: optional('LIST', `where content may be processed, such as eu,us-east-1, or ${EVERY}; left out, it stays`),
}

/** Reads the rules' options. The returned function looks their models and providers up in a catalogue. */
export function readRules(values: Values): (catalog: Catalog) => Partial<KeyRules> {
  const [zeroRetention, noTraining] = ['zero-retention', 'no-training'].map((name) => readYesNo(values, name))
  const regions = readList(values, 'regions', (name) => (REGION.test(name) ? name : undefined))
  const { most } = KEY_FIELDS.regions.items
  if (regions && regions.length > most) fail(`--regions takes at most ${most} regions`)
  return (catalog) => {
    const allowedModels = readList(values, 'models', (name) => modelNamed(catalog, name))
    const allowedProviders = readList(values, 'providers', (name) => catalog.providers.get(name)?.name)
    const rules = { allowedModels, allowedProviders, zeroRetention, noTraining, regions }
    return Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined))
  }
}

function readYesNo(values: Values, name: string): boolean | undefined {
  const word = readChoice(values, name, ['yes', 'no'])
  return word && word === 'yes'
}

function readList(
  values: Values,
  option: 'models' | 'providers' | 'regions',
  idOf: (name: string) => string | undefined,
): string[] | null | undefined {
  const text = values[option]
  if (text === undefined) return undefined
  if (text === EVERY) return null
  const read = (name: string) => idOf(name) ?? fail(`--${option}: there is no ${option.slice(0, -1)} ${name}`)
  return [...new Set(text.split(',').map(read))]
}

/** The model id for an id or alias; undefined for tiers. */
function modelNamed(catalog: Catalog, name: string): string | undefined {
  const sold = findSold(catalog, name)
  return sold && 'candidates' in sold ? undefined : sold?.id
}
