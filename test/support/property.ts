/** Properties over generated values: the same values in every run with the same seed, so that what fails once fails again. */
import fc from 'fast-check'
import { SEED } from './seed'

// A failure prints the seed, and the path to the smallest value that fails.
fc.configureGlobal({ seed: SEED })

export { default as fc } from 'fast-check'
