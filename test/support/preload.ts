/** Runs once around the whole test process: stops the servers that tests have started. */
import { afterAll } from 'bun:test'
import { stopStores } from './stores'

// Under load, a server writes its data for longer than the five seconds a hook gets by default.
afterAll(stopStores, 60_000)
