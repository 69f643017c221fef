/**
 * Counts, lists and closes the accepted connections of a listener by system calls. The HTTP server does not report connections before their
 * first complete request. Nothing here opens a descriptor, so it works when none are left.
 */

import { dlopen, type FFIFunction, FFIType, ptr } from 'bun:ffi'
import { readdirSync, readFileSync, statSync } from 'node:fs'

export type OpenSocket = {
  /** Valid only within the current turn of the event loop. */
  descriptor: number
  address: string
  port: number
}

export interface OpenSockets {
  limit: number
  count(): number
  /** The connections accepted by a listener on `localPort`. */
  list(localPort: number): OpenSocket[]
  end(socket: OpenSocket): void
  turnAwayNewcomers(localPort: number): void
  /** Closes the listener only: new connections are refused, and existing ones are still served. */
  closeListener(localPort: number): void
}

const DESCRIPTORS = '/proc/self/fd'
const LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']
const FUNCTIONS = {
  getsockname: { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  getpeername: { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  fcntl: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  shutdown: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  dup2: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  close: { args: [FFIType.i32], returns: FFIType.i32 },
  setsockopt: { args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
} as const

/** The fcntl command that reads a descriptor's flags. It fails if the descriptor is not open. */
const F_GETFD = 1
const SHUT_RDWR = 2
const SOL_SOCKET = 1
const SO_ATTACH_FILTER = 26
const LOAD_BYTE = 0x30
const JUMP_IF_SET = 0x45
const RETURN = 0x06
const SYN = 0x02
const NAME_BYTES = 128
const INET = 2
const INET6 = 10

/** The functions for this process's connections. Undefined except on Linux. */
export function openSockets(): OpenSockets | undefined {
  const library = loadLibrary(FUNCTIONS)
  if (!library) return undefined
  const { fcntl, getsockname, getpeername, shutdown, setsockopt, dup2, socket, close } = library.symbols
  const limit = descriptorLimit()
  const name = new Uint8Array(NAME_BYTES)
  const length = new Uint32Array(1)
  const view = new DataView(name.buffer)

  /** Writes a socket address of `descriptor` into `name`; false if it is no connected socket. */
  function read(ask: typeof getsockname, descriptor: number): boolean {
    length[0] = NAME_BYTES
    return ask(descriptor, name, length) === 0
  }

  function socketAt(descriptor: number, localPort: number): OpenSocket | undefined {
    if (!read(getsockname, descriptor) || view.getUint16(2) !== localPort) return undefined
    if (!read(getpeername, descriptor)) return undefined
    const address = addressIn(view)
    return address === undefined ? undefined : { descriptor, address, port: view.getUint16(2) }
  }

  function listeners(localPort: number): number[] {
    const found: number[] = []
    for (let descriptor = 0, left = count(); left > 0 && descriptor < limit; descriptor++) {
      if (fcntl(descriptor, F_GETFD) === -1) continue
      left--
      if (!read(getsockname, descriptor) || view.getUint16(2) !== localPort || read(getpeername, descriptor)) continue
      found.push(descriptor)
    }
    return found
  }

  /** Newer kernels report the number of descriptors as the folder's size. On older ones its files are counted, which takes a descriptor. */
  function count(): number {
    const { size } = statSync(DESCRIPTORS)
    if (size > 0) return size
    try {
      return readdirSync(DESCRIPTORS).length
    } catch {
      return limit
    }
  }

  return {
    limit,
    count,
    list(localPort) {
      const found: OpenSocket[] = []
      // The system assigns the lowest numbers first, so the loop ends early.
      for (let descriptor = 0, left = count(); left > 0 && descriptor < limit; descriptor++) {
        if (fcntl(descriptor, F_GETFD) === -1) continue
        left--
        const socket = socketAt(descriptor, localPort)
        if (socket) found.push(socket)
      }
      return found
    },
    end: ({ descriptor }) => void shutdown(descriptor, SHUT_RDWR),
    turnAwayNewcomers(localPort) {
      const program = withoutBeginnings()
      for (const descriptor of listeners(localPort))
        setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, program.header, program.header.length)
    },
    closeListener(localPort) {
      // Replaces the listener by an unused socket with the same descriptor, so that the server may close it when it stops.
      for (const descriptor of listeners(localPort)) {
        const other = socket(INET, 1, 0)
        dup2(other, descriptor)
        close(other)
      }
    },
  }
}

/** Functions of the C library; undefined if no known library can be loaded. */
export function loadLibrary<Functions extends Record<string, FFIFunction>>(functions: Functions) {
  if (process.platform !== 'linux') return undefined
  for (const path of LIBRARIES) {
    try {
      return dlopen(path, functions)
    } catch {
      // No library has this path on this system: tries the next path.
    }
  }
  return undefined
}

/** A packet filter (BPF) that drops packets with SYN, which begin a connection. */
function withoutBeginnings(): { header: Uint8Array; instructions: Uint16Array } {
  const instructions = new Uint16Array([
    LOAD_BYTE,
    0,
    13,
    0,
    JUMP_IF_SET,
    0x0100,
    SYN,
    0,
    RETURN,
    0,
    0,
    0,
    RETURN,
    0,
    0xffff,
    0,
  ])
  const header = new Uint8Array(16)
  const view = new DataView(header.buffer)
  view.setUint16(0, instructions.length / 4, true)
  view.setBigUint64(8, BigInt(ptr(instructions)), true)
  return { header, instructions }
}

function addressIn(view: DataView): string | undefined {
  const family = view.getUint16(0, true)
  if (family === INET) return dotted(view, 4)
  if (family !== INET6) return undefined
  const groups = Array.from({ length: 8 }, (_, index) => view.getUint16(8 + 2 * index))
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return dotted(view, 20)
  return groups.map((group) => group.toString(16)).join(':')
}

function dotted(view: DataView, at: number): string {
  return `${view.getUint8(at)}.${view.getUint8(at + 1)}.${view.getUint8(at + 2)}.${view.getUint8(at + 3)}`
}

function descriptorLimit(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)
}
