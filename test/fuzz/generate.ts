/** Values for a JSON schema: mostly valid, some at its bounds, and some that no schema has ever asked for. */
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import type { Random } from './random'

/** Names that are something else in an object with a prototype. */
export const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']

const MAX_DEPTH = 6

const NASTY_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\u202e‮evil',
  '\r\nx-injected: 1',
  '../../../etc/passwd',
  '%00%2e%2e%2f',
  "' OR 1=1 --",
  '{{7*7}}',
  '<script>alert(1)</script>',
  '=cmd|calc',
  '𝕏'.repeat(300),
  'x'.repeat(10_000),
  'ÿ@example.test',
  '1e999',
  'svc/alpha',
  'auto-smart',
  ...PROTOTYPE_NAMES,
]
const NASTY_NUMBERS = [0, -0, -1, 0.5, 1e-300, 1e308, 2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 1.8e19]

/** Something that is probably wrong, whatever was asked for. */
export function nastyValue(random: Random): JsonValue {
  switch (random.below(8)) {
    case 0:
      return null
    case 1:
      return random.pick(NASTY_NUMBERS)
    case 2:
      return random.once(2)
    case 3:
      return []
    case 4:
      return Array.from({ length: random.pick([1, 3, 5_000]) }, () => random.pick(NASTY_NUMBERS))
    case 5:
      return Object.fromEntries([[random.pick(PROTOTYPE_NAMES), { isAdmin: true, role: 'admin' }]])
    default:
      return random.pick(NASTY_TEXTS)
  }
}

/** A value for `schema`; undefined if an optional one is left out. */
export function valueFor(schema: JsonValue | undefined, random: Random, depth = 0): JsonValue {
  if (!isJsonObject(schema) || depth > MAX_DEPTH || random.once(25)) return nastyValue(random)
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return random.pick(schema.enum)
  const variants = schema.anyOf ?? schema.oneOf
  if (Array.isArray(variants) && variants.length > 0) return valueFor(random.pick(variants), random, depth)
  switch (Array.isArray(schema.type) ? random.pick(schema.type) : schema.type) {
    case 'string':
      return textFor(schema, random)
    case 'integer':
    case 'number':
      return numberFor(schema, random)
    case 'boolean':
      return random.once(2)
    case 'null':
      return null
    case 'array': {
      const length = random.pick([0, 1, 1, 2, Number(schema.maxItems ?? 3) + (random.once(40) ? 1 : -1)])
      return Array.from({ length: Math.min(Math.max(0, length), 200) }, () => valueFor(schema.items, random, depth + 1))
    }
    default:
      return objectFor(schema, random, depth)
  }
}

function objectFor(schema: JsonObject, random: Random, depth: number): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const entries = Object.entries(properties).flatMap(([name, inner]): [string, JsonValue][] => {
    const isLeftOut = required.includes(name) ? random.once(30) : !random.once(4)
    return isLeftOut ? [] : [[name, valueFor(inner, random, depth + 1)]]
  })
  if (random.once(20)) entries.push([random.pick(PROTOTYPE_NAMES), nastyValue(random)])
  return Object.fromEntries(entries)
}

function textFor(schema: JsonObject, random: Random): string {
  if (random.once(8)) return random.pick(NASTY_TEXTS)
  const longest = Number(schema.maxLength ?? 20)
  const length = random.pick([Number(schema.minLength ?? 0), 5, Math.min(longest, 2_000)])
  return 'abcdefghij'.repeat(200).slice(0, length)
}

function numberFor(schema: JsonObject, random: Random): number {
  const [least, most] = [Number(schema.minimum ?? 0), Number(schema.maximum ?? 1_000)]
  if (random.once(8)) return random.pick([least - 1, most + 1, ...NASTY_NUMBERS])
  return random.pick([least, most, schema.type === 'integer' ? Math.floor((least + most) / 2) : (least + most) / 2])
}
