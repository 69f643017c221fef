import { createServer } from 'node:net'

/** The lowest port. Clients refuse some ports up to 10,080. Port + 10,000 (a Redis cluster bus) must be no ephemeral port. */
const FIRST = 11_000
const COUNT = 9_000
const MAX_TRIES = 200
/** Ports returned before: their servers may not listen yet. */
const given = new Set<number>()

/** Finds a free TCP port of 127.0.0.1, from 11,000 to 19,999, for a server that needs a fixed one. Throws if none is free. */
export async function freePort(): Promise<number> {
  if (given.size > COUNT / 2) given.clear()
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
  throw new Error(`no free port was found from ${FIRST} to ${FIRST + COUNT - 1}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
