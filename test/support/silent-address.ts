/** An address on this machine where packets vanish: a listener that accepts nothing any more, its queue filled up. */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { assert } from '@/lib/assert'
import { until } from './until'

const LISTENER = `
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  process.stdout.write(String(server.port) + '\\n')
`
/** More than any listener's queue takes. */
const MAX_CONNECTIONS = 5_000
const BATCH = 50
/** As the kernel lists a connection that waits for its first answer. */
const SYN_SENT = '02'
export interface SilentAddress {
  readonly port: number
  stop(): Promise<void>
}

/** Starts a listener in a process of its own, stops that process, and connects until nobody answers. */
export async function openSilentAddress(): Promise<SilentAddress> {
  const listener = Bun.spawn([process.execPath, '-e', LISTENER], { stdout: 'pipe', stderr: 'inherit' })
  const { value } = await listener.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(value))
  listener.kill('SIGSTOP')
  const sockets: Socket[] = []
  let connected = 0
  while (unanswered(port) === 0 && sockets.length < MAX_CONNECTIONS) {
    for (let count = 0; count < BATCH; count++) {
      sockets.push(connect({ host: '127.0.0.1', port }).once('connect', () => connected++))
    }
    await until(() => connected + unanswered(port) === sockets.length, 'the kernel to answer, or not')
  }
  assert(unanswered(port) > 0, 'the queue of a listener has an end')
  return {
    port,
    async stop() {
      for (const socket of sockets) socket.destroy()
      listener.kill('SIGKILL')
      await listener.exited
    },
  }
}

/** How many connections to `port` the kernel has dropped: on loopback it answers at once, or never. */
function unanswered(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)
  return rows.filter((row) => {
    const [, , to = '', state] = row.trim().split(/\s+/)
    return to.endsWith(remote) && state === SYN_SENT
  }).length
}
