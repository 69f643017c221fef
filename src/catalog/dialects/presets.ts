/** Presets of providers: what is known of services that speak a format in their own way, so that an entry of the file need only name one. */
import type { FaultList } from '@/catalog/check'
import type { ProviderFile } from '@/catalog/schema'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import presets from './presets.json'

/** The default properties of an entry with the preset, and facts about the service. */
export type Preset = {
  entry: Partial<ProviderFile> & Pick<ProviderFile, 'format'>
  /** Further properties that its entry needs besides keys. */
  needs?: string
  /** The place of the usage in a stream, and the field with the model's thoughts. */
  usage: string
  reasoning: string
  notes?: string
}

export const PRESETS: ReadonlyMap<string, Preset> = new Map(Object.entries(presets as Record<string, Preset>))

/** The catalogue file with each provider's preset in place of its name. What an entry says itself holds, and replaces the preset's as a whole. */
export function expandPresets(file: JsonValue, faults: FaultList): JsonValue {
  if (!isJsonObject(file) || !isJsonObject(file.providers)) return file
  const entries = Object.entries(file.providers).map(([name, entry]) => [
    name,
    isJsonObject(entry) && entry.preset !== undefined ? expand(entry, `providers.${name}`, faults) : entry,
  ])
  return { ...file, providers: Object.fromEntries(entries) }
}

function expand({ preset: name, ...own }: JsonObject, place: string, faults: FaultList): JsonObject {
  const preset = typeof name === 'string' ? PRESETS.get(name) : undefined
  if (!preset) {
    faults.add(`${place}.preset`, `expected one of ${[...PRESETS.keys()].join(', ')}`)
    for (const property of ['format', 'baseUrl']) faults.excuse(`${place}.${property}`)
    return own
  }
  const { auth, ...entry } = preset.entry
  // A local server asks for a key only where its operator has set one; a key for Vertex AI takes the place of an account.
  const isOverruled = (auth?.type === 'none' || auth?.type === 'google') && own.keys !== undefined
  return { ...entry, ...(auth && !isOverruled && { auth }), ...own }
}
