/** Runs once around the whole test process, or around each file of a worker: stops the servers that tests have started. */
import { afterAll } from 'bun:test'
import '@test/accounts/cheap-passwords'
import { noteTiming } from '@test/runner/timings'
import { stopStores } from './stores'

// Under load a server writes its data, and drops a dozen databases, for longer than the five seconds a hook gets by default. What begins
// after a hook that ran out of time would lose its stores.
afterAll(stopStores, 300_000)
afterAll(noteTiming)
