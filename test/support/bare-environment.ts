/** What a program that a test starts gets of our own environment: where the programs are, and nothing that could change it. */
export const BARE_ENVIRONMENT = { PATH: process.env.PATH ?? '' }
