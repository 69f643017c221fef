/** The providers that entries can be suggested for: vendors, presets with an address, and clouds. */
import type { Provider } from '@pydantic/genai-prices'
import { PRESETS, type Preset } from '@/catalog/dialects/presets'
import type { FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'
import { findLister } from './listing'
import { SECOND_MODELS } from './second-source'

export type SuggestedProvider = {
  name: string
  format: FormatName
  entry: JsonObject
  /** The entry in the first price source that has this provider's prices. */
  lister: Provider
  /** Whether to read the provider's own list of models. Clouds list all models that they could serve, not the account's deployments. */
  hasList: boolean
  isVendor: boolean
  isReached(model: string): boolean
}

const ALL = () => true
const CLAUDE = (model: string) => model.includes('claude')
const OTHERS = (model: string) => !model.includes('claude')
/** Models to suggest for Gemini on Vertex AI. Embedding models are excluded, since the dialect has no embeddings. */
const GEMINI_CHATS = (model: string) => OTHERS(model) && !model.includes('embedding')

type Vendor = { name: string; format: FormatName; address: string; key: string; isReached?(model: string): boolean }

/** Vendors with a format of their own, in the order of the default catalogue. */
const VENDORS: readonly Vendor[] = [
  { name: 'openai', format: 'chat-completions', address: 'https://api.openai.com/v1', key: 'OPENAI_API_KEY' },
  { name: 'anthropic', format: 'messages', address: 'https://api.anthropic.com', key: 'ANTHROPIC_API_KEY' },
  {
    ...{ name: 'google', format: 'generate-content' },
    ...{ address: 'https://generativelanguage.googleapis.com', key: 'GEMINI_API_KEY', isReached: OTHERS },
  },
]

type Cloud = { lister: string; isReached(model: string): boolean; needs: JsonObject }
const PLACE = { project: `\${GOOGLE_CLOUD_PROJECT}`, location: `\${GOOGLE_CLOUD_LOCATION:-global}` }

const CLOUDS: ReadonlyMap<string, Cloud> = new Map([
  ['azure', { lister: 'azure', isReached: OTHERS, needs: {} }],
  ['foundry', { lister: 'azure', isReached: CLAUDE, needs: {} }],
  ['bedrock', { lister: 'aws', isReached: OTHERS, needs: {} }],
  ['bedrock-anthropic', { lister: 'aws', isReached: CLAUDE, needs: {} }],
  ['vertex', { lister: 'google', isReached: GEMINI_CHATS, needs: PLACE }],
  ['vertex-anthropic', { lister: 'google', isReached: CLAUDE, needs: PLACE }],
])

/** The names that {@link suggestedProvider} knows. */
export function suggestedProviders(): string[] {
  return [...VENDORS.map(({ name }) => name), ...PRESETS.keys()]
    .filter((name) => suggestedProvider(name) !== undefined)
    .sort()
}

/** The provider `name`, at `baseUrl` if given; undefined if no source lists its prices. */
export function suggestedProvider(name: string, baseUrl?: string): SuggestedProvider | undefined {
  const own = baseUrl === undefined ? {} : { baseUrl }
  const number = VENDORS.findIndex((vendor) => vendor.name === name) + 1
  const vendor = VENDORS[number - 1]
  if (vendor) {
    const { format, address, key } = vendor
    const entry = {
      ...{ format, baseUrl: `\${PROVIDER${number}_BASE_URL:-${address}}` },
      ...{ keys: [`\${PROVIDER${number}_API_KEY|${key}}`], ...own },
    }
    const lister = findLister(name)
    return lister && { name, format, entry, lister, hasList: true, isVendor: true, isReached: vendor.isReached ?? ALL }
  }
  const preset = PRESETS.get(name)
  const cloud = CLOUDS.get(name)
  const lister = findLister(cloud?.lister ?? preset?.entry.baseUrl ?? '')
  if (!preset || !lister) return undefined
  const keys = hasOwnCredential(preset) ? {} : { keys: [variableOf(name)] }
  return {
    ...{ name, lister, format: preset.entry.format, isVendor: false, hasList: cloud === undefined },
    entry: { preset: name, ...cloud?.needs, ...own, ...keys },
    isReached: cloud?.isReached ?? ALL,
  }
}

/** The models that public price lists name for a provider. They are used if the provider's own list of models is not requested. */
export function publicModels({ lister }: SuggestedProvider): { id: string }[] {
  const second = SECOND_MODELS.filter(({ provider }) => provider === lister.id)
  return [...new Set([...lister.models, ...second].map(({ id }) => id))].map((id) => ({ id }))
}

function hasOwnCredential({ entry: { auth } }: Preset): boolean {
  return auth?.type === 'none' || auth?.type === 'google'
}

function variableOf(name: string): string {
  return `\${${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY}`
}
