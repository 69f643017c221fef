/**
 * The scripts of the version that knew hashes only, so that gateways of both versions can be tried on one store. The files are as
 * that version had them.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SCRIPTS, type Script } from '@/ledger/scripts/scripts'

const FOLDER = join(import.meta.dir, '..', '..', 'fixtures', 'older-ledger')
const textOf = (name: string) => readFileSync(join(FOLDER, `${name}.lua`), 'utf8')
const HOLDS = ['limits', 'holds']
const KEY_STATE = ['limits', 'key-state']

/** What stood in front of each, behind the prelude that is first everywhere. */
const PRELUDES: Partial<Record<keyof typeof SCRIPTS, string[]>> = {
  reserve: ['limits'],
  renew: [],
  settle: HOLDS,
  release: HOLDS,
  expire: HOLDS,
  credit: HOLDS,
  withhold: HOLDS,
  epoch: [],
  loadAccount: [...HOLDS, 'load'],
  loadKey: [...KEY_STATE, 'load'],
  setKey: KEY_STATE,
  setAccount: ['limits'],
  readAccount: [],
  readKey: [],
}

const prelude = textOf('preludes/prelude')
const versions = Object.entries(PRELUDES).map(([key, preludes]) => {
  const current: Script = SCRIPTS[key as keyof typeof SCRIPTS]
  const flags = current.text.slice(0, current.text.indexOf('\n'))
  const parts = [flags, prelude, ...preludes.map((name) => textOf(`preludes/${name}`)), textOf(current.name)]
  return { current, newer: { ...current }, older: { ...current, ...withDigest(parts.join('\n')) } }
})

function withDigest(text: string): Pick<Script, 'text' | 'sha'> {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** From now on every ledger of this process runs the scripts of one version: what a gateway of it would send. */
export function runScripts(version: 'newer' | 'older'): void {
  for (const { current, ...scripts } of versions) Object.assign(current, scripts[version])
}
