/** Checks one part of the catalogue file against its schema, and reports every fault with its place. */
import type { Static, TSchema } from '@sinclair/typebox'
import { ValueErrorType } from '@sinclair/typebox/errors'
import { Value } from '@sinclair/typebox/value'
import type { Fault } from '@/lib/fault'

/** Collects faults. `has` finds places that already have one, so that a mistake is reported once. */
export interface FaultList {
  add(place: string, message: string): void
  /** Makes `has` true for `place` without a fault. Use it if the fault there is reported elsewhere. */
  excuse(place: string): void
  /** Like `add`, for faults that only disable one provider. */
  warn(place: string, message: string): void
  has(place: string): boolean
  readonly all: Fault[]
  readonly warnings: Fault[]
}

/** Creates an empty list of faults. */
export function createFaultList(): FaultList {
  const all: Fault[] = []
  const warnings: Fault[] = []
  const places = new Set<string>()
  return {
    all,
    warnings,
    has: (place) => places.has(place),
    excuse: (place) => void places.add(place),
    warn(place, message) {
      places.add(place)
      warnings.push({ place, message })
    },
    add(place, message) {
      places.add(place)
      all.push({ place, message })
    },
  }
}

/** Returns `value` typed by `schema`. If it doesn't match, adds a fault for every wrong place and returns undefined. */
export function checkPart<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  place: string,
  faults: FaultList,
): Static<Schema> | undefined {
  if (Value.Check(schema, value)) return value
  let isSound = true
  for (const error of Value.Errors(schema, value)) {
    const at = joinPlace(place, error.path, value)
    isSound = false
    if (faults.has(at)) continue
    if (error.type === ValueErrorType.ObjectAdditionalProperties) faults.add(at, 'is not a known property')
    else if (error.value === undefined) faults.add(at, `is missing; expected ${describe(error.schema)}`)
    else faults.add(at, `expected ${describe(error.schema)}`)
  }
  return isSound ? (value as Static<Schema>) : undefined
}

function describe(schema: TSchema): string {
  return schema.description ?? `a value of type ${schema.type}`
}

/** A JSON pointer below `place` in the file's notation: `providers.provider2.keys[0]`. */
function joinPlace(place: string, pointer: string, root: unknown): string {
  let text = place
  let value = root
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    text += Array.isArray(value) ? `[${key}]` : text === '' ? key : `.${key}`
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
  }
  return text === '' ? 'the file' : text
}
