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

/** Every variable that src/config reads: it looks each of them up. */
export function settingNames(): string[] {
  const names = new Set<string>()
  const spy = new Proxy<Record<string, string>>({}, { get: (_, name) => void names.add(String(name)) })
  loadConfig(spy)
  return [...names].filter((name) => !INTERNAL.includes(name))
}

/** Those that the default catalogue reads, such as the keys of its providers. */
export async function catalogNames(): Promise<string[]> {
  const text = await Bun.file(join(ROOT, 'config', 'catalog.json')).text()
  return [...new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name))]
}
