/** Provider presets: known services that deviate from their format. A catalogue entry can refer to one by name. */
import type { FaultList } from '@/catalog/check'
import type { ProviderFile } from '@/catalog/schema'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import presets from './presets.json'

export type Preset = {
  entry: Partial<ProviderFile> & Pick<ProviderFile, 'format'>
  /** Properties that the entry must have besides keys. */
  needs?: string
  /** The place of the usage in a stream. `reasoning` is the field with the model's reasoning. */
  usage: string
  reasoning: string
  notes?: string
}

export const PRESETS: ReadonlyMap<string, Preset> = new Map(Object.entries(presets as Record<string, Preset>))

/** The catalogue file with each preset's properties in place of its name. A property of the entry replaces the preset's as a whole. */
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
  // Keys of the entry replace the preset's `auth`: a local server's operator may have set a key, and Vertex AI accepts keys instead of an
  // account.
  const isOverruled = (auth?.type === 'none' || auth?.type === 'google') && own.keys !== undefined
  return { ...entry, ...(auth && !isOverruled && { auth }), ...own }
}
