/** Lists the request fields of a client format that have an effect at a model. */
import { UNPRICED_EXTRAS } from './body-fields'
import { type Fate, fateOf } from './field-fates'
import type { Format } from './format'

/** A provider that serves the model. `capabilities` are the model's; `sellsTools`: the model has prices for provider-run tools. */
export type Serving = {
  provider: Format
  quirks: ReadonlySet<string>
  capabilities: ReadonlySet<string>
  sellsTools: boolean
}

const CONVERSATION = ['model', 'messages', 'input']

/** The fields of a `client` body that no provider of the model omits, and that at least one provider doesn't refuse. */
export function supportedFields(client: Format, servings: readonly Serving[]): string[] {
  const names = [...(client.requestFields.tables['']?.keys() ?? [])]
  return names.filter((name) => !CONVERSATION.includes(name) && isSupported(name, client, servings))
}

/** The supported fields of an embeddings request. */
export function supportedEmbeddingFields(client: Format, servings: readonly Serving[]): string[] {
  const { all = new Set<string>(), native = [] } = client.requestFields.ofEmbeddings ?? {}
  const isOwn = servings.every(({ provider }) => provider.name === client.name)
  return [...all].filter((name) => !CONVERSATION.includes(name) && (isOwn || !native.includes(name)))
}

function isSupported(name: string, client: Format, servings: readonly Serving[]): boolean {
  const fates = servings.map((serving) => fateAt(name, client, serving))
  return !fates.includes('named') && fates.some((fate) => fate !== 'refused')
}

function fateAt(name: string, client: Format, { provider, quirks, capabilities, sellsTools }: Serving): Fate {
  const { needs = {}, spelling, tables } = client.requestFields
  for (const [capability, fields] of Object.entries(needs))
    if (fields.includes(name) && !capabilities.has(capability)) return 'refused'
  const rule = tables['']?.get(name)
  if (rule?.kind === 'hub' && rule.isNative && !sellsTools && !quirks.has(UNPRICED_EXTRAS)) return 'refused'
  const lacking = [...quirks].flatMap((quirk) => provider.requestFields.lackingWith[quirk] ?? [])
  return lacking.some((feature) => spelling[feature]?.includes(name)) ? 'named' : fateOf(name, client, provider)
}
