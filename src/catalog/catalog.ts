/** Loads the catalogue: from its text and the environment to the providers, models and tiers that can be offered. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AuthSchema } from '@/catalog/dialects/auth-schema'
import { withAwsCredentials } from '@/catalog/dialects/aws-environment'
import { expandPresets } from '@/catalog/dialects/presets'
import { isComplete, isKeyless } from '@/catalog/dialects/read-dialect'
import type { Fault } from '@/lib/fault'
import { isJsonObject, type JsonValue } from '@/lib/json'
import { readJsonText } from '@/lib/json-text'
import { SHARED } from '@/limits/shared-resources'
import { checkAliases, mapAliases } from './aliases'
import { checkPart, createFaultList, type FaultList } from './check'
import { readModels } from './models'
import { type ProviderSurroundings, readProvider } from './providers'
import { LimitsSchema, ProviderNameSchema, ProviderSchema, ServiceSchema } from './schema'
import { readTiers } from './tiers'
import type { Catalog, DefaultLimits, Provider } from './types'
import { substituteVariables, VARIABLE_FORMS } from './variables'

type LoadCatalogOptions = {
  /** The sandbox's address, used for every provider if none has a key. */
  sandboxBaseUrl?: string
}

export type CatalogResult =
  | {
      kind: 'loaded'
      catalog: Catalog
      isSandboxed: boolean
      /** Providers without a usable credential. */
      withoutKey: string[]
      /** Models and tiers that no provider with a key can serve. */
      notOffered: string[]
    }
  /** The file is valid, but no provider has a key: start the sandbox and load again, or set one of `variables`. */
  | { kind: 'no_keys'; variables: string[] }
  | { kind: 'faulty'; faults: Fault[] }

/** Limits of a key, if neither the key nor the catalogue sets them. */
export const DEFAULT_LIMITS: DefaultLimits = {
  requestsPerMinute: 600,
  tokensPerMinute: 2_000_000,
  concurrency: SHARED.openRequests.perAccount,
}

const FileSchema = Type.Object(
  {
    service: Type.Unknown({ description: ServiceSchema.description ?? '' }),
    providers: Type.Record(Type.String(), Type.Unknown(), {
      minProperties: 1,
      description: 'an object with at least one provider',
    }),
    models: Type.Array(Type.Unknown(), { minItems: 1, description: 'a list of at least one model' }),
    tiers: Type.Optional(Type.Array(Type.Unknown(), { description: 'a list of tiers' })),
    limits: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false, description: 'an object' },
)

/** Reads and validates the catalogue `text`, with `${NAME}` from `environment` or the file in `NAME_FILE`. Reports all faults at once. */
export function loadCatalog(
  text: string,
  environment: Record<string, string | undefined>,
  options: LoadCatalogOptions = {},
): CatalogResult {
  const document = readJsonText(text)
  if (document.kind === 'broken') {
    const place = `line ${document.line}, column ${document.column}`
    return { kind: 'faulty', faults: [{ place, message: document.message }] }
  }
  const {
    value: written,
    missing,
    broken,
    unread,
  } = substituteVariables(withAwsCredentials(document.value, environment), environment)
  const faults = createFaultList()
  const value = expandPresets(written, faults)
  const hasAnyKey = providerNames(value).some((name) => hasKey(value, name))
  const sandboxBaseUrl = hasAnyKey ? undefined : options.sandboxBaseUrl

  for (const { place, name } of missing) {
    if (isNeedless(place, value, sandboxBaseUrl !== undefined)) faults.excuse(place)
    else faults.add(place, `the variable ${name} is not set and has no default`)
  }
  for (const { place, message } of unread) faults.add(place, message)
  for (const place of broken) faults.add(place, `has an invalid variable; expected ${VARIABLE_FORMS}`)
  const file = checkPart(FileSchema, value, '', faults)
  if (!file) return { kind: 'faulty', faults: faults.all }
  const service = checkPart(ServiceSchema, file.service, 'service', faults) ?? ''
  const limits = file.limits === undefined ? DEFAULT_LIMITS : checkPart(LimitsSchema, file.limits, 'limits', faults)
  const providers = readProviders(file.providers, faults, { sandboxBaseUrl, isProxied: hasProxy(environment) })
  const models = readModels(file.models, service, providers, faults)
  const tiers = readTiers(file.tiers ?? [], models, faults)
  checkAliases(file, faults)
  if (faults.all.length > 0 || !limits) return { kind: 'faulty', faults: faults.all }

  const offered = new Map<string, Provider>()
  for (const [name, provider] of providers) if (provider && provider.keys.length > 0) offered.set(name, provider)
  if (offered.size === 0) {
    // The operator configured a provider, although with a fault. So the gateway must not simulate answers.
    if (faults.warnings.length > 0) return { kind: 'faulty', faults: faults.warnings }
    const variables = missing.filter(({ place }) => KEY_PLACE.test(place)).map(({ name }) => name)
    return { kind: 'no_keys', variables: [...new Set(variables)] }
  }
  return {
    kind: 'loaded',
    catalog: {
      service,
      providers: offered,
      models: models.offered,
      tiers: tiers.offered,
      aliases: mapAliases([...models.offered.values(), ...tiers.offered.values()]),
      limits,
      warnings: faults.warnings,
    },
    isSandboxed: sandboxBaseUrl !== undefined,
    withoutKey: [...providers.keys()].filter((name) => !offered.has(name)),
    notOffered: [...models.notOffered, ...tiers.notOffered],
  }
}

/** All provider secrets of a catalogue, for the log redactor. */
export function catalogSecrets(catalog: Catalog): string[] {
  return [...catalog.providers.values()].flatMap((provider) => [
    ...provider.keys.map((key) => key.secret),
    ...Object.values(provider.headers),
    ...(provider.dialect.secrets ?? []),
  ])
}

const KEY_PLACE = /^providers\..+\.(?:keys\[\d+\]|auth\.)/
const PROVIDER_PLACE = /^providers\.([^.]+)\.(keys\[|baseUrl$|headers\.|auth\.)/

/** Whether a missing variable is no fault: it contains a key, its provider has no key, or the sandbox replaces the provider. */
function isNeedless(place: string, value: JsonValue, isSandboxed: boolean): boolean {
  const match = PROVIDER_PLACE.exec(place)
  if (!match) return false
  return match[2] === 'keys[' || isSandboxed || !hasKey(value, match[1] ?? '')
}

function providerNames(value: JsonValue): string[] {
  return isJsonObject(value) && isJsonObject(value.providers) ? Object.keys(value.providers) : []
}

function hasKey(value: JsonValue, providerName: string): boolean {
  const providers = isJsonObject(value) && isJsonObject(value.providers) ? value.providers : {}
  const provider = Object.hasOwn(providers, providerName) ? providers[providerName] : undefined
  const auth = isJsonObject(provider) ? provider.auth : undefined
  if (Value.Check(AuthSchema, auth) && isKeyless(auth)) return isComplete(auth)
  const keys = isJsonObject(provider) && Array.isArray(provider.keys) ? provider.keys : []
  return keys.some((key) => (isJsonObject(key) ? Boolean(key.key) : Boolean(key)))
}

/** Providers by name, including those without a key; undefined for a broken entry whose name is known. */
function readProviders(
  entries: Record<string, unknown>,
  faults: FaultList,
  surroundings: ProviderSurroundings,
): Map<string, Provider | undefined> {
  const providers = new Map<string, Provider | undefined>()
  for (const [name, entry] of Object.entries(entries)) {
    const place = `providers.${name}`
    checkPart(ProviderNameSchema, name, place, faults)
    const file = checkPart(ProviderSchema, entry, place, faults)
    providers.set(name, file && readProvider(name, file, faults, surroundings))
  }
  return providers
}

function hasProxy(environment: Record<string, string | undefined>): boolean {
  return ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some((name) => Boolean(environment[name]))
}
