/**
 * The scripts of versions before, so that gateways of several versions can be tried on one store: the one that knew hashes only, and
 * the one whose packed strings left nothing out. The files are as those versions had them.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SCRIPTS, type Script } from '@/ledger/scripts/scripts'

/** What a shard says where strings leave nothing out. */
export const PACKED_SHARDS = '64 packed'

export type Version = 'newer' | 'packed' | 'hashed'

const FIXTURES = join(import.meta.dir, '..', '..', 'fixtures')
const FOLDERS = { hashed: join(FIXTURES, 'older-ledger'), packed: join(FIXTURES, 'packed-ledger') }
const HOLDS = ['limits', 'holds']
const KEY_STATE = ['limits', 'key-state']

type Parts = { preludes: string[]; layout: ('account' | 'key' | 'hold')[]; isForBudgets?: true }
const CHARGES: Parts = { preludes: HOLDS, layout: ['key', 'account', 'hold'] }

/** Callers of today name the budgets too behind each hold that is to expire; of what knew hashes only they would be the next hold's. */
const HOLD_AMONG_FIVE = 'unpack(KEYS, index * 5 - 1, index * 5 + 2)'

/** What stood in front of each, behind the prelude that is first everywhere; hashes had no layout of their own. */
const SCRIPT_PARTS: Partial<Record<keyof typeof SCRIPTS, Parts>> = {
  reserve: { preludes: ['limits'], layout: ['account', 'key', 'hold'] },
  renew: { preludes: [], layout: ['hold'] },
  settle: CHARGES,
  release: CHARGES,
  expire: { ...CHARGES, isForBudgets: true },
  credit: { preludes: HOLDS, layout: ['account', 'hold'] },
  withhold: { preludes: HOLDS, layout: ['account', 'hold'] },
  epoch: { preludes: [], layout: [] },
  loadAccount: { preludes: [...HOLDS, 'load'], layout: ['key', 'account', 'hold'] },
  loadKey: { preludes: [...KEY_STATE, 'load'], layout: ['key'] },
  setKey: { preludes: KEY_STATE, layout: ['key'] },
  setAccount: { preludes: ['limits'], layout: ['account'] },
  readAccount: { preludes: [], layout: ['account'] },
  readKey: { preludes: [], layout: ['key'] },
}

function textOf(version: keyof typeof FOLDERS, { name, text }: Script, parts: Parts): string {
  const flags = text.slice(0, text.indexOf('\n'))
  const layout = version === 'packed' ? parts.layout.map((thing) => `layout/${thing}`) : []
  const budgets = version === 'packed' && parts.isForBudgets ? ['preludes/budgets'] : []
  const files = ['preludes/prelude', ...layout, ...parts.preludes.map((one) => `preludes/${one}`), ...budgets, name]
  const texts = files.map((file) => readFileSync(join(FOLDERS[version], `${file}.lua`), 'utf8'))
  return [flags, ...texts].join('\n').replace('unpack(KEYS, index * 4, index * 4 + 3)', HOLD_AMONG_FIVE)
}

const versions = Object.entries(SCRIPT_PARTS).map(([key, parts]) => {
  const current: Script = SCRIPTS[key as keyof typeof SCRIPTS]
  const older = (version: keyof typeof FOLDERS) => ({ ...current, ...withDigest(textOf(version, current, parts)) })
  return { current, newer: { ...current }, packed: older('packed'), hashed: older('hashed') }
})
/** Neither knew the short way of a first use: they go the long one. */
const longWay = { ...SCRIPTS.loadPayer, ...withDigest("#!lua flags=allow-oom\nreturn 'changed'") }
versions.push({ current: SCRIPTS.loadPayer, newer: { ...SCRIPTS.loadPayer }, packed: longWay, hashed: longWay })

function withDigest(text: string): Pick<Script, 'text' | 'sha'> {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** From now on every ledger of this process runs the scripts of one version: what a gateway of it would send. */
export function runScripts(version: Version): void {
  for (const { current, ...scripts } of versions) Object.assign(current, scripts[version])
}
