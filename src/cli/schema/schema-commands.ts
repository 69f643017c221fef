/** The operator command that migrates the database, so that gateways don't need the role for that. */
import type { Command } from '@/cli/command'
import { fail } from '@/cli/failure'
import type { Environment } from '@/config/config'
import { migrate } from '@/db/migrate'

export const SCHEMA_COMMANDS: readonly Command[] = [
  {
    words: 'schema migrate',
    help: 'updates the database of DATABASE_MIGRATOR_URL (else DATABASE_URL) to the schema of this version; needs no other setting',
    options: {},
    runAlone: (_, environment) => migrateSchema(environment),
  },
]

async function migrateSchema({ DATABASE_MIGRATOR_URL, DATABASE_URL }: Environment) {
  const address = DATABASE_MIGRATOR_URL || DATABASE_URL
  if (!address) return fail('neither DATABASE_MIGRATOR_URL nor DATABASE_URL is set')
  const applied: string[] = []
  const newer: string[] = []
  await migrate(address, {
    onApplied: ({ id, name }) => void applied.push(`${id} (${name})`),
    onNewer: (names) => void newer.push(names),
  })
  return { output: { applied, ...(newer.length > 0 && { newer: newer.join(', ') }) } }
}
