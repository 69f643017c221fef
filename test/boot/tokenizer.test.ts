/** The tokenizer takes the event loop for itself while it is loaded: every server process does so before its port is open. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { freePort } from '@/boot/embedded/free-port'
import { addressOf, spawnGateway } from './process'

const PRELOAD = join(import.meta.dir, 'note-tokenizer.ts')

test.each([1, 2])(
  'no request pays for the tokenizer: %d process(es) open the port after it is loaded',
  async (count) => {
    const gateway = spawnGateway({
      REDIS_URL: await redisUrl(),
      DATABASE_URL: await freshDatabase(),
      // The sandbox opens a port as well, and knows of no tokens.
      SANDBOX_URL: 'http://127.0.0.1:9',
      PORT: count === 1 ? '0' : String(await freePort()),
      PROCESSES: String(count),
      BUN_OPTIONS: `--preload=${PRELOAD}`,
    })
    await addressOf(gateway)
    const opened = () => [...gateway.output().matchAll(/a port is opened \w+ the tokenizer/g)].map(String)
    await until(() => opened().length === count, 'the ports')
    expect(opened()).toEqual(Array.from({ length: count }, () => 'a port is opened with the tokenizer'))
    gateway.kill('SIGTERM')
    await gateway.exited()
  },
)
