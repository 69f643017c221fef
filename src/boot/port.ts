/**
 * The address and port where the gateway listens. The port is tested before a start creates anything: a first start that fails later would leave its
 * demo account behind.
 */
import { FFIType } from 'bun:ffi'
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { Config } from '@/config/config'
import { FatalStartError } from './fatal-start-error'
import { loadLibrary } from './open-sockets'

type Listener = Pick<Config, 'host' | 'port'>

/** Takes the port and gives it back, if possible without listening. Throws FatalStartError that names PORT or HOST. */
export async function checkPort({ host, port }: Listener): Promise<void> {
  const found = await lookup(host).catch(() => refuse(`HOST: nobody knows an address of ${host}`))
  if (canBind(found, port)) return
  // The server itself reports the fault in its own words.
  const server = onPort({ host, port }, () => Bun.serve({ hostname: host, port, fetch: () => new Response() }))
  await server.stop(true)
}

/** Runs `listen`; what the system says against the port becomes a FatalStartError of one line. */
export function onPort<T>({ host, port }: Listener, listen: () => T): T {
  try {
    return listen()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE') {
      refuse(`PORT: ${port} is taken on ${host} by another program: stop that one, or set PORT to another port`)
    }
    if (code === 'EACCES') refuse(`PORT: this user may not listen on ${port}: set PORT to a port above 1023`)
    if (code === 'EADDRNOTAVAIL') refuse(`HOST: ${host} is no address of this machine`)
    throw error
  }
}

/** Where a browser on this machine finds the gateway. */
export function localAddress({ host, port }: Listener): string {
  const isAnyAddress = host === '0.0.0.0' || host === '::'
  return `http://${isAnyAddress ? 'localhost' : host}:${port}`
}

function refuse(message: string): never {
  throw new FatalStartError(message)
}

const FUNCTIONS = {
  socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  setsockopt: { args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  inet_pton: { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  bind: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  close: { args: [FFIType.i32], returns: FFIType.i32 },
} as const

const INET = 2
const INET6 = 10
const STREAM = 1
const SOL_SOCKET = 1
const SO_REUSEADDR = 2

/** Whether the port is free, asked of the system without listening on it. False also where that cannot be asked. */
function canBind({ address, family }: LookupAddress, port: number): boolean {
  const library = loadLibrary(FUNCTIONS)
  if (!library) return false
  const { socket, setsockopt, inet_pton, bind, close } = library.symbols
  const [kind, bytes, addressAt] = family === 6 ? ([INET6, 28, 8] as const) : ([INET, 16, 4] as const)
  const name = new Uint8Array(bytes)
  const view = new DataView(name.buffer)
  view.setUint16(0, kind, true)
  view.setUint16(2, port)
  if (inet_pton(kind, Buffer.from(`${address}\0`), name.subarray(addressAt)) !== 1) return false
  const descriptor = socket(kind, STREAM, 0)
  if (descriptor === -1) return false
  // As any server does: connections of the one before may still be on their way out.
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, new Uint32Array([1]), 4)
  const isFree = bind(descriptor, name, name.length) === 0
  close(descriptor)
  return isFree
}
