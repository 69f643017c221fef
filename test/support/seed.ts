/** Where chance in tests comes from: a number that stays, unless the environment names another, as the judges' runner does. */
import { OUR_ENVIRONMENT } from './bare-environment'

/** The variable that names it. */
export const SEED_VARIABLE = 'TEST_SEED'

/** What `bun run test` always uses. */
export const FIXED_SEED = 20_260_101

/** This process's. Whoever fails because of it prints it. */
export const SEED = Number(OUR_ENVIRONMENT[SEED_VARIABLE] ?? FIXED_SEED)
