/** Secrets of one use that follow one another: the first encrypts and signs, all of them decrypt. */
export type Secrets = readonly [current: string, ...former: string[]]
