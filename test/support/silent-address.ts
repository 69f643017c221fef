/** An address on this machine where packets vanish: a listener that accepts nothing any more, its queue filled up. */
import { connect, type Socket } from 'node:net'
import { assert } from '@/lib/assert'

const LISTENER = `
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  process.stdout.write(String(server.port) + '\\n')
`
/** More than any listener's queue takes. */
const MAX_CONNECTIONS = 5_000
const BATCH = 50
/** A connection on loopback that takes longer is one that the kernel dropped. */
const SILENCE_MS = 150

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
  let isSilent = false
  while (!isSilent && sockets.length < MAX_CONNECTIONS) {
    const batch = Array.from({ length: BATCH }, () => connect({ host: '127.0.0.1', port }))
    sockets.push(...batch)
    isSilent = (await Promise.all(batch.map(isConnected))).includes(false)
  }
  assert(isSilent, 'the queue of a listener has an end')
  return {
    port,
    async stop() {
      for (const socket of sockets) socket.destroy()
      listener.kill('SIGKILL')
      await listener.exited
    },
  }
}

function isConnected(socket: Socket): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), SILENCE_MS)
  socket.once('connect', () => {
    clearTimeout(timer)
    resolve(true)
  })
  socket.once('error', () => resolve(false))
  return promise
}
