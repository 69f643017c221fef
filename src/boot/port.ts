/** Tests the gateway's address and port before a start creates data, such as a demo account whose secrets nobody would see. */
import { FFIType } from 'bun:ffi'
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { Config } from '@/config/config'
import { FatalStartError } from './fatal-start-error'
import { loadLibrary } from './open-sockets'

type Listener = Pick<Config, 'host' | 'port'>

/** Tests that the port is free, if possible without listening on it. Throws a FatalStartError that names PORT or HOST. */
export async function checkPort({ host, port }: Listener): Promise<void> {
  const found = await lookup(host).catch(() => refuse(`HOST: there is no address for ${host}`))
  if (canBind(found, port)) return
  // The port can't be bound, or this can't be tested. Starting a real server shows the error.
  const server = onPort({ host, port }, () => Bun.serve({ hostname: host, port, fetch: () => new Response() }))
  await server.stop(true)
}

/** Runs `listen`. A system error about the port becomes a FatalStartError with a one-line message. */
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

/** The URL for a browser on this machine. */
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

/** Whether the port can be bound, without listening on it. False if that cannot be tested. */
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
  // Set as servers do, since connections of a former server may still be closing.
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, new Uint32Array([1]), 4)
  const isFree = bind(descriptor, name, name.length) === 0
  close(descriptor)
  return isFree
}
