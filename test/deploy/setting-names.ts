/** Which variables a gateway knows: what its settings and its default catalogue read. */
import { join } from 'node:path'
import { loadConfig } from '@/config/config'
import { ROOT } from './compose-file'

/** Set by one process of a gateway for another, and by fault tests. */
const INTERNAL = [
  'SUPERVISED_GATEWAY',
  'SUPERVISED_REDIS_URL',
  'SUPERVISED_DATABASE_URL',
  'SUPERVISED_BY',
  'SANDBOX_URL',
  'CRASH_AT',
]

/** Every variable that src/config reads, without the names of their files. */
export function settingNames(): string[] {
  const names = new Set<string>()
  const note = (_: object, name: string | symbol) => void names.add(String(name))
  loadConfig(new Proxy<Record<string, string>>({}, { get: note, getOwnPropertyDescriptor: note }))
  const isFileOf = (name: string) => name.endsWith('_FILE') && names.has(name.slice(0, -'_FILE'.length))
  return [...names].filter((name) => !INTERNAL.includes(name) && !isFileOf(name))
}

/** Those that the default catalogue reads, such as the keys of its providers. */
export async function catalogNames(): Promise<string[]> {
  const text = await Bun.file(join(ROOT, 'config', 'catalog.json')).text()
  return [...new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name))]
}
