/** Runs once around the whole test process, or around each file of a worker: stops the servers that tests have started. */
import { afterAll } from 'bun:test'
import '@test/accounts/cheap-passwords'
import { noteTiming } from '@test/runner/timings'
import { stopStores } from './stores'

// Under load, a server writes its data for longer than the five seconds a hook gets by default.
afterAll(stopStores, 60_000)
afterAll(noteTiming)
