/** The Redis user of the gateway in its embedded Redis, with the minimal rights from deploy/. */
import { join, resolve } from 'node:path'
import rules from '#deploy/redis/gateway.acl' with { type: 'text' }
import { readOrCreatePassword } from './secret'

const REDIS_USER = 'svc'

/** The line of redis.conf that defines the gateway's user. The user's password is in `directory`. */
export async function redisUserLine(directory: string): Promise<string> {
  return `user ${REDIS_USER} >${await redisPassword(directory)} ${rules.trim()}`
}

/** The URL of the embedded Redis below `dataDir`, for this user. */
export async function redisGatewayUrl(dataDir: string, adminUrl: string): Promise<string> {
  const url = new URL(adminUrl)
  url.username = REDIS_USER
  url.password = await redisPassword(join(resolve(dataDir), 'redis'))
  return url.href
}

function redisPassword(directory: string): Promise<string> {
  return readOrCreatePassword(join(directory, 'password-gateway'))
}
