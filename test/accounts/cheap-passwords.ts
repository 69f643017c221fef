/**
 * Hashes of passwords that cost next to nothing, in every test process: a real one takes 19 MiB and some 30 ms of a processor, and
 * tests make a thousand. No setting of the product does this; gateways that tests spawn hash as ever.
 */
const { hash } = Bun.password

/** The least that argon2id takes; who verifies goes by what the hash says of itself. */
const CHEAP = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const

/** Whether the hash in this process is the product's own. */
let isReal = false

Bun.password.hash = (password, algorithm) => hash(password, isReal ? algorithm : CHEAP)

/** Does `work` with hashes that cost what they cost in production: for tests that are about that. */
export async function withRealHashes<T>(work: () => Promise<T>): Promise<T> {
  isReal = true
  return await work().finally(() => {
    isReal = false
  })
}
