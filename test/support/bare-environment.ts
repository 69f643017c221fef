/** What the tests take of our own environment. */
import { join } from 'node:path'

/**
 * What a program that a test starts gets of it: where the programs are, and nothing that could change it. Without a home, Bun would
 * transpile every large module anew at every start, which takes a third of it.
 */
export const BARE_ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  BUN_RUNTIME_TRANSPILER_CACHE_PATH: join(import.meta.dir, '..', '..', '.cache', 'transpiled'),
}

/** Whether this is the build machine, where no test may be left out. */
export const IS_BUILD_MACHINE = Boolean(process.env.CI)

/** All of it: for runs of tests that tests and their runner start, and for what such a runner tells its workers. */
export const OUR_ENVIRONMENT: Readonly<Record<string, string | undefined>> = process.env
