import { join, resolve } from 'node:path'
import roles from '#deploy/postgres/roles.sql' with { type: 'text' }
import { readOrCreatePassword } from '@/boot/embedded/secret'
import { connectDatabase } from '@/db/client'

export type RoleAddresses = { migratorUrl: string; gatewayUrl: string; readerUrl: string }

/** An advisory lock id that no other code uses. */
const ROLES_LOCK = 5_811_206

/** Creates the gateway's roles in the embedded Postgres, with the rights of deploy/; passwords are below `dataDir`. Safe to repeat. */
export async function preparePostgresRoles(dataDir: string, superuserUrl: string): Promise<RoleAddresses> {
  const addressOf = async (role: string) => {
    const url = new URL(superuserUrl)
    url.username = role
    url.password = await readOrCreatePassword(join(resolve(dataDir), 'postgres', `password-${role}`))
    return url
  }
  const [migrator, gateway, reader] = await Promise.all([
    addressOf('svc_migrator'),
    addressOf('svc_gateway'),
    addressOf('svc_reader'),
  ])
  const database = connectDatabase(superuserUrl, { maxConnections: 1, applicationName: 'roles' })
  try {
    await database.sql.begin(async (transaction) => {
      await transaction`SELECT pg_advisory_xact_lock(${ROLES_LOCK})`
      await transaction.unsafe(roles)
      for (const { username, password } of [migrator, gateway, reader]) {
        await transaction.unsafe(`ALTER ROLE ${username} PASSWORD '${password}'`)
      }
    })
  } finally {
    await database.close()
  }
  return { migratorUrl: migrator.href, gatewayUrl: gateway.href, readerUrl: reader.href }
}
