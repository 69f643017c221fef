/** The user by which the gateway uses its embedded Redis, with the rights of deploy/ and no more than the work needs. */
import { join, resolve } from 'node:path'
import rules from '#deploy/redis/gateway.acl' with { type: 'text' }
import { readOrCreatePassword } from './secret'

const REDIS_USER = 'svc'

/** The line of redis.conf that makes the gateway's user, with the password kept in `directory`. */
export async function redisUserLine(directory: string): Promise<string> {
  return `user ${REDIS_USER} >${await redisPassword(directory)} ${rules.trim()}`
}

/** The address of the embedded Redis below `dataDir` for that user. */
export async function redisGatewayUrl(dataDir: string, adminUrl: string): Promise<string> {
  const url = new URL(adminUrl)
  url.username = REDIS_USER
  url.password = await redisPassword(join(resolve(dataDir), 'redis'))
  return url.href
}

function redisPassword(directory: string): Promise<string> {
  return readOrCreatePassword(join(directory, 'password-gateway'))
}
