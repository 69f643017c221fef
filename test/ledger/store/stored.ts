/** The fields that the store holds of an account, a key or a hold: to look at, and to spoil. */
import { LAYOUT_TEXTS, STORED_FIELDS, type StoredThing } from '@/ledger/layout'
import { script } from '@/ledger/scripts/scripts'
import type { RedisClient } from '@/ledger/store/connection'

type Fields = Record<string, string | number>

/** The fields of the thing of this name, each as text; undefined if there is none. */
export async function readStored(
  redis: RedisClient,
  thing: StoredThing,
  name: string,
): Promise<Record<string, string> | undefined> {
  const names = Object.keys(STORED_FIELDS[thing])
  const values = (await run(redis, thing, name, 'return x and { VALUES } or {}')) as string[]
  if (values.length === 0) return undefined
  return Object.fromEntries(names.map((field, index) => [field, values[index] ?? '']))
}

/** Sets fields of the thing of this name. */
export async function setStored(redis: RedisClient, thing: StoredThing, name: string, fields: Fields): Promise<void> {
  const args = Object.entries(fields).flat()
  await run(
    redis,
    thing,
    name,
    "for i = 1, #ARGV, 2 do x[ARGV[i]] = type(x[ARGV[i]]) == 'number' and ARGV[i + 1] + 0 or ARGV[i + 1] end WRITE",
    args,
  )
}

/** Adds to numbers of the thing of this name. */
export async function addToStored(redis: RedisClient, thing: StoredThing, name: string, sums: Fields): Promise<void> {
  const args = Object.entries(sums).flat()
  await run(redis, thing, name, 'for i = 1, #ARGV, 2 do x[ARGV[i]] = x[ARGV[i]] + ARGV[i + 1] end WRITE', args)
}

function run(
  redis: RedisClient,
  thing: StoredThing,
  name: string,
  body: string,
  args: (string | number)[] = [],
): Promise<unknown> {
  const title = thing[0]?.toUpperCase() + thing.slice(1)
  const values = Object.entries(STORED_FIELDS[thing]).map(([field, kind]) =>
    kind === 'text' ? `x.${field}` : `format('%.17g', x.${field})`,
  )
  const lines = body.replace('VALUES', values.join(', ')).replace('WRITE', `write${title}(KEYS[1], x)`)
  const { text } = script('stored', 'write-always', [LAYOUT_TEXTS[thing]], `local x = read${title}(KEYS[1])\n${lines}`)
  return redis.eval(text, 1, name, ...args)
}
