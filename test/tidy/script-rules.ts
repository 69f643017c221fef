/** Rules for what is not TypeScript: Lua scripts and SQL migrations. */
import type { Violation } from './source'

/**
 * Each script starts with a comment that says its purpose, each of its KEYS and ARGV, and what it returns. A fragment
 * (any Lua file that uses neither KEYS nor ARGV) needs the purpose only.
 */
export function checkLua(path: string, text: string): Violation[] {
  const lines = text.split('\n')
  const bodyStart = lines.findIndex((line) => !line.startsWith('--'))
  const header = lines.slice(0, bodyStart === -1 ? lines.length : bodyStart).join('\n')
  const code = lines.map((line) => line.replace(/--.*$/, '')).join('\n')
  const details: string[] = []
  if (!/[A-Za-z]{3,}\s+[A-Za-z]+/.test(header)) details.push('the header says the purpose of the script')
  for (const name of ['KEYS', 'ARGV']) {
    if (code.includes(name) && !header.includes(name)) details.push(`the header describes ${name}`)
  }
  if (/\b(KEYS|ARGV)\b/.test(code) && !/\breturns?\b/i.test(header)) details.push('the header says what it returns')
  return details.map((detail) => ({ path, line: 1, rule: 'lua', detail }))
}

/** Migrations are `0001_name.sql`, `0002_name.sql` and so on: no gap, no number twice. */
export function checkMigrations(names: readonly string[]): Violation[] {
  return [...names].sort().flatMap((name, index) => {
    const expected = String(index + 1).padStart(4, '0')
    if (new RegExp(`^${expected}_[a-z0-9_]+\\.sql$`).test(name)) return []
    return [{ path: `src/db/migrations/${name}`, line: 0, rule: 'migration', detail: `expected ${expected}_name.sql` }]
  })
}
