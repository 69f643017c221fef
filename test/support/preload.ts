/** Runs once around the whole test process: stops the servers that tests have started. */
import { afterAll } from 'bun:test'
import { stopStores } from './stores'

afterAll(stopStores)
