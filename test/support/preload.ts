/** Runs once around the whole test process, or around each file of a worker: stops the servers that tests have started. */

import { afterAll } from 'bun:test'
import { plugin } from 'bun'
import '@test/accounts/cheap-passwords'
import { noteTiming } from '@test/runner/timings'
import { delayAtRandom } from './random-delays'
import { stopStores } from './stores'

delayAtRandom()

/** No load makes a test or a hook take that long. */
const LIMIT_MS = 300_000

// Bun reads no time limit from bunfig.toml and resets `setDefaultTimeout` at each file. So each test file gets the call as its first words.
plugin({
  name: 'test time limit',
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      const limit = `import { setDefaultTimeout as setLimit } from 'bun:test'; setLimit(${LIMIT_MS}); `
      return { contents: limit + (await Bun.file(path).text()), loader: 'ts' }
    })
  },
})

// If this hook ran out of time, files that run later would lose their stores.
afterAll(stopStores, LIMIT_MS)
afterAll(noteTiming)
