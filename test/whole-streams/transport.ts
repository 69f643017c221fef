/**
 * The way between the gateway and its providers, at which each read is what a test says it is: in place of `fetch`, since a socket
 * cuts and joins as it likes. Whatever is not addressed to a provider goes where it was going.
 */
import { nameIn } from './question'

/**
 * The answer to one call. `reads` are what its reader gets, one after another; it begins once `begins` has resolved. `isBeside`: the
 * silent provider is only silent beside another call; asked in its place, it answers.
 */
type Scripted = { reads: readonly Uint8Array[]; begins: Promise<unknown> | undefined; isBeside: boolean }

export interface Transport {
  /** What is answered to calls whose body has `name`, at a provider that is not one of the silent. */
  script(name: string, scripted: Scripted): void
  /** Resolves when the client who asked `name` has been told a status. */
  told(name: string): Promise<void>
  /** Resolves when a silent provider is called with `name`. */
  silentAsked(name: string): Promise<void>
  /** Whether two calls with `name` were open at the same time. */
  wereBeside(name: string): boolean
  /** Of what is known of `name` nothing is kept. */
  forget(name: string): void
  /** Gives `fetch` back. */
  stop(): void
}

type Known = {
  scripted: Scripted
  told: PromiseWithResolvers<void>
  silentAsked: PromiseWithResolvers<void>
  open: number
  wereBeside: boolean
}

const NOTHING: Scripted = { reads: [], begins: undefined, isBeside: false }
const HEADERS = { 'content-type': 'text/event-stream' }

/** Puts itself between: calls to addresses below `providers` are answered here, those below `gateway()` are noted. */
export function createTransport(providers: string, gateway: () => string): Transport {
  const through = globalThis.fetch
  const names = new Map<string, Known>()

  function knownOf(name: string): Known {
    const fresh = { told: Promise.withResolvers<void>(), silentAsked: Promise.withResolvers<void>() }
    const known = names.get(name) ?? { scripted: NOTHING, ...fresh, open: 0, wereBeside: false }
    names.set(name, known)
    return known
  }

  async function carry(input: string | URL | Request, options: RequestInit = {}): Promise<Response> {
    const address = input instanceof Request ? input.url : String(input)
    if (address.startsWith(gateway())) {
      const response = await through(input, options)
      knownOf(nameIn(String(options.body))).told.resolve()
      return response
    }
    return address.startsWith(providers) ? answer(address, options) : through(input, options)
  }

  async function answer(address: string, { body, signal }: RequestInit): Promise<Response> {
    const known = knownOf(nameIn(String(body)))
    const aborted = untilAborted(signal)
    known.open++
    known.wereBeside ||= known.open > 1
    const { reads, begins, isBeside } = known.scripted
    try {
      if (address.startsWith(`${providers}/silent`)) {
        known.silentAsked.resolve()
        if (!isBeside || known.open > 1) return await aborted
      }
      if (begins) await unlessAborted(begins, aborted)
      return new Response(readable(reads, signal), { headers: HEADERS })
    } finally {
      known.open--
    }
  }

  globalThis.fetch = carry as typeof fetch
  return {
    script: (name, scripted) => void Object.assign(knownOf(name), { scripted }),
    told: (name) => knownOf(name).told.promise,
    silentAsked: (name) => knownOf(name).silentAsked.promise,
    wereBeside: (name) => knownOf(name).wereBeside,
    forget: (name) => void names.delete(name),
    stop() {
      globalThis.fetch = through
    },
  }
}

function readable(reads: readonly Uint8Array[], signal: AbortSignal | null | undefined): ReadableStream<Uint8Array> {
  let next = 0
  return new ReadableStream<Uint8Array>({
    start(controller) {
      signal?.addEventListener('abort', () => controller.error(abortError()))
    },
    pull(controller) {
      const read = reads[next++]
      if (read) controller.enqueue(read)
      else controller.close()
    },
  })
}

async function unlessAborted(begins: Promise<unknown>, aborted: Promise<never>): Promise<void> {
  const first = Promise.withResolvers<void>()
  aborted.catch(first.reject)
  begins.then(() => first.resolve(), first.reject)
  await first.promise
}

/** Never resolves. */
function untilAborted(signal: AbortSignal | null | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => undefined)
  if (signal?.aborted) reject(abortError())
  signal?.addEventListener('abort', () => reject(abortError()))
  return promise
}

function abortError(): Error {
  return new DOMException('aborted', 'AbortError')
}
