/** Flat tool names for providers without namespaces: namespace and name are combined, and separated again in the answer. */
import { invalidRequest } from '@/chat/error'
import type { ToolOrigin } from '@/chat/request'
import { LIMITS } from '@/formats/responses/limits'
import { sha256Hex } from '@/lib/ids'

const SEPARATOR = '__'
const ILLEGAL_CHARACTERS = /[^A-Za-z0-9_-]/g
const DIGEST_CHARS = 8

export interface ToolNames {
  add(origin: ToolOrigin, path: string): string
  /** Tools that are no functions, or that have another name at the provider, by their provider-side name. */
  origins(): ReadonlyMap<string, ToolOrigin>
}

/** A tool's provider-side name: its own, or namespace and name combined. */
export function flatName(name: string, namespace: string | null | undefined): string {
  if (!namespace) return name
  const whole = `${namespace}${SEPARATOR}${name}`
  const legal = whole.replace(ILLEGAL_CHARACTERS, '_')
  if (legal === whole && whole.length <= LIMITS.toolNameChars) return whole
  const kept = legal.slice(0, LIMITS.toolNameChars - DIGEST_CHARS - 1)
  return `${kept}_${sha256Hex(whole).slice(0, DIGEST_CHARS)}`
}

/** Creates the register of one request's tool names. */
export function createToolNames(): ToolNames {
  const known = new Map<string, ToolOrigin>()

  return {
    add(origin, path) {
      const flat = flatName(origin.name, origin.namespace)
      const other = known.get(flat)
      if (other && (other.name !== origin.name || other.namespace !== origin.namespace)) {
        throw invalidRequest(`${path}.name is that of another tool as well, once its namespace stands before it`, path)
      }
      known.set(flat, origin)
      return flat
    },
    origins: () =>
      new Map([...known].filter(([, { kind, namespace }]) => kind === 'custom' || namespace !== undefined)),
  }
}
