/** Finds a free TCP port on loopback for a server that needs a given one. */
import { createServer } from 'node:net'

/** Below the ports of outgoing connections, also with the 10,000 of a cluster's bus; clients refuse some up to 10,080. */
const FIRST = 11_000
const COUNT = 9_000
const MAX_TRIES = 200
/** Those given before. Their servers may not listen yet. */
const given = new Set<number>()

/** A port on 127.0.0.1 from 11,000 to 19,999 that was free a moment ago. Throws if none is found. */
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
