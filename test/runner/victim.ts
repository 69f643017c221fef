/** What leftovers.test.ts kills: a test that has every kind of server open, says so, and never ends by itself. */
import { test } from 'bun:test'
import { appendFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, spawnGateway } from '@test/boot/process'
import { OUR_ENVIRONMENT } from '@test/support/bare-environment'
import { openBrowser } from '@test/support/browser'
import { freshDatabase, redisUrl } from '@test/support/stores'

const FOREVER_MS = 600_000

test(
  'waits with everything open',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-victim-'))
    const gateway = spawnGateway({ DATA_DIR: folder, PORT: '0' })
    const url = await addressOf(gateway)
    await Promise.all([redisUrl(), freshDatabase()])
    const browser = await openBrowser()
    await browser.open('/dashboard', { url })
    appendFileSync(OUR_ENVIRONMENT.VICTIM_IS_READY ?? '/dev/null', folder)
    await new Promise(() => undefined)
  },
  FOREVER_MS,
)
