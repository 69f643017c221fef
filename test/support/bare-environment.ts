/** What the tests take of our own environment. */

/** What a program that a test starts gets of it: where the programs are, and nothing that could change it. */
export const BARE_ENVIRONMENT = { PATH: process.env.PATH ?? '' }

/** Whether this is the build machine, where no test may be left out. */
export const IS_BUILD_MACHINE = Boolean(process.env.CI)
