/** A gateway whose catalogue is read again, on a Redis of its own, and its provider, which can be watched and made to wait. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CatalogFile, startGateway, type TestGateway } from '@test/support/gateway'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream, type Respond, usageOf } from '@test/support/upstream'
import { assert } from '@/lib/assert'

export const OLD_KEY = 'sk-old-key-of-the-provider'
export const NEW_KEY = 'sk-new-key-of-the-provider'
const KEY_VARIABLE = `\${PROVIDER1_API_KEY}`

export type World = {
  gateway: TestGateway
  redis: TestServer
  databaseUrl: string
  /** Where the provider's key is. */
  keyPath: string
  stop(): Promise<void>
}

/** What the provider says at once: ten tokens in, five out. */
export const answerAtOnce: Respond = ({ body }) =>
  body.stream === true
    ? eventStream(...chatStream(['at', 'once'], usageOf(10, 5)))
    : Response.json(chatCompletion('at once', usageOf(10, 5)))

/** Starts it with the old key in a file. */
export async function startWorld(respond: Respond = answerAtOnce): Promise<World> {
  const [redis, databaseUrl] = await Promise.all([startRedis(), freshDatabase()])
  const folder = await mkdtemp(join(tmpdir(), 'test-secrets-'))
  const keyPath = join(folder, 'provider1')
  await Bun.write(keyPath, `${OLD_KEY}\n`)
  const gateway = await startGateway({
    respond,
    redisUrl: redis.url,
    databaseUrl,
    reloads: true,
    environment: { PROVIDER1_API_KEY_FILE: keyPath },
    catalog: (file) => Object.assign(file.providers.provider1 ?? {}, { keys: [KEY_VARIABLE] }),
  })
  return {
    ...{ gateway, redis, databaseUrl, keyPath },
    async stop() {
      await gateway.stop()
      await redis.stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** Writes the gateway's file anew. */
export async function rewrite({ catalogPath }: TestGateway, change: (file: CatalogFile) => void): Promise<void> {
  assert(catalogPath, 'the gateway reloads')
  const file = (await Bun.file(catalogPath).json()) as CatalogFile
  change(file)
  await Bun.write(catalogPath, JSON.stringify(file))
}

/** What SIGHUP does, and waits until it is done with. */
export async function reload({ gateway }: TestGateway): Promise<void> {
  await gateway.deps.reloads?.reload()
}

/** A chat request of whoever has `key`. */
export function ask(gateway: TestGateway, key: string, body: object = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], ...body }),
  })
}

/** What an account has been charged once nothing of it is held any more, in nano-USD. */
export async function chargedTo(gateway: TestGateway, accountId: string, credit: number): Promise<number> {
  const balance = await until(async () => {
    const found = await gateway.balance(accountId)
    return found.held === 0 && found
  }, 'the settlement')
  return credit - balance.available
}

/** The log lines of one event. */
export function eventsOf(gateway: TestGateway, event: string): Record<string, unknown>[] {
  return gateway.logLines.map((line) => JSON.parse(line)).filter((line) => line.event === event)
}
