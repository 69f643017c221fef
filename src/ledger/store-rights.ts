/** The permissions that the Redis user needs, tested by one script that writes nothing. */
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { keyPrefixOf, type RedisClient } from './store/connection'
import { LEDGER_PATTERN, probeName } from './store/names'
import { integerOf, listOf } from './store/reply'
import type { ScriptRunner } from './store/script-runner'

/** A permission: one command on all names with one prefix. */
export type Right = {
  /** The command with valid arguments; `@` is replaced by a name. */
  line: string
  /** The prefix of the names; empty for the names of the shards. */
  family: string
  /** Whether paid requests work without it. */
  isOptional: boolean
}

/** The missing permissions as ACL rules: `+zadd`, `~sig:*`. */
export type MissingRights = { required: string[]; optional: string[] }

/** Commands of the scripts, of reading records, and of checking holds. */
const LEDGER_LINES = [
  ...['HGET @ f', 'HMGET @ f', 'HGETALL @', 'HSET @ f 1', 'HDEL @ f', 'EXISTS @', 'PEXPIRE @ 1', 'PTTL @', 'TIME'],
  ...['ZADD @ 1 m', 'ZSCORE @ m', 'ZRANGE @ 0 0', 'ZREM @ m', 'ZCARD @'],
  ...[
    'SADD @ m',
    'SCARD @',
    'SISMEMBER @ m',
    'SMEMBERS @',
    'GET @',
    'SET @ 1',
    'MGET @',
    'MSET @ 1',
    'DEL @',
    'INFO memory',
  ],
  ...['XADD @ * f 1', 'XACK @ g 0-1', 'XDEL @ 0-1', 'XLEN @', 'XRANGE @ - + COUNT 1'],
  'XREAD COUNT 1 STREAMS @ 0',
  ...['XREADGROUP GROUP g c COUNT 1 STREAMS @ >', 'XINFO GROUPS @', 'XGROUP CREATE @ g 0'],
]
/** Commands that the automatic check and the pages with metrics need. */
const WATCHING_LINES = ['SCAN 0 COUNT 1', 'SSCAN @ 0', 'XREVRANGE @ + - COUNT 1']

/** Permissions that the ledger needs. */
export const LEDGER_RIGHTS: readonly Right[] = [
  ...LEDGER_LINES.map((line) => ({ line, family: '', isOptional: false })),
  ...WATCHING_LINES.map((line) => ({ line, family: '', isOptional: true })),
  ...rightsOn('keyhash:', []),
]

/** Additional permissions of a cluster client. */
export const CLUSTER_RIGHTS: readonly Right[] = [{ line: 'CLUSTER SLOTS', family: '', isOptional: false }]

/** The permissions to read and write names with the prefix `family`, and to run `lines` on them. */
export function rightsOn(family: string, lines: readonly string[], isOptional = false): Right[] {
  return ['GET @', 'SET @ 1', ...lines].map((line) => ({ line, family, isOptional }))
}

/** Asks the node of `shard` which permissions are missing. Throws if it doesn't answer, or refuses the test. */
export async function findMissingRights(
  redis: RedisClient,
  runner: ScriptRunner,
  shard: number,
  rights: readonly Right[],
): Promise<MissingRights> {
  const prefix = keyPrefixOf(redis)
  const lines = rights.map(({ line, family }) => JSON.stringify(wordsOf(line, prefix + probeName(shard, family))))
  // Sends the whole text, since that needs a permission too.
  const reply = listOf(await runner.guard(() => redis.eval(SCRIPTS.rights.text, 1, probeName(shard, ''), ...lines)))
  const missing = { required: new Set<string>(), optional: new Set<string>() }
  for (let index = 0; index < reply.length; index += 2) {
    const right = rights[integerOf(reply[index]) - 1]
    if (right)
      missing[right.isOptional ? 'optional' : 'required'].add(ruleOf(right, reply[index + 1] === 'names', prefix))
  }
  return {
    required: [...missing.required],
    optional: [...missing.optional].filter((rule) => !missing.required.has(rule)),
  }
}

/** The permission that is missing according to the error of a whole script; undefined for an unrelated error. */
export function rightRefused(text: string, prefix: string): string | undefined {
  if (!text.startsWith('NOPERM')) return undefined
  const command = /'([^']+)' command/.exec(text)?.[1]
  return command === undefined ? namesRule('', prefix) : `+${command.toLowerCase()}`
}

function wordsOf(line: string, name: string): string[] {
  return line.split(' ').map((word) => (word === '@' ? name : word))
}

function namesRule(family: string, prefix: string): string {
  return `~${prefix}${family === '' ? LEDGER_PATTERN : `${family}*`}`
}

function ruleOf({ line, family }: Right, areNames: boolean, prefix: string): string {
  if (areNames) return namesRule(family, prefix)
  const [command = '', subcommand = ''] = line.toLowerCase().split(' ')
  return `+${command}${['xgroup', 'xinfo', 'cluster'].includes(command) ? `|${subcommand}` : ''}`
}
