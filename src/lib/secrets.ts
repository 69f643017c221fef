/** Secrets for one purpose: the first encrypts and signs, all of them decrypt. */
export type Secrets = readonly [current: string, ...former: string[]]
