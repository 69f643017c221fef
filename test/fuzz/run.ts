/** One run of the fuzzer: every kind of attack, in turn, against one gateway; and what was wrong. */
import { bombProbes } from './bombs'
import { judgeNeighbours } from './neighbours'
import { crossProbes, probeOf, readOperations } from './operations'
import { type Probe, send } from './probe'
import { createRandom } from './random'
import { abuseSockets, openSlowClients } from './raw'
import { type GatewayProcess, startGatewayProcess } from './world'
import { judgeWorstBodies } from './worst-bodies'

type FuzzOptions = {
  seed: number
  /** Probes of documented operations. */
  probes: number
  bombs: { depth: number; bytes: number }
  /** Takes one bomb of so many. */
  everyBomb: number
  /** Whether customers are held against each other, and the dearest bodies measured: some minutes of a machine that does nothing else. */
  neighbours?: boolean
  note(line: string): void
}

/** Runs only the neighbours, or the dearest bodies, whose names hold a text. Returns what is wrong, as {@link runFuzz}. */
export async function runOne(
  { neighbour, body }: { neighbour: string | undefined; body: string | undefined },
  note: (line: string) => void,
): Promise<string[]> {
  const gateway = await startGatewayProcess()
  try {
    return [
      ...(neighbour === undefined ? [] : await judgeNeighbours(gateway, note, neighbour)),
      ...(body === undefined ? [] : await judgeWorstBodies(gateway, note, body)),
    ]
  } finally {
    await gateway.stop()
  }
}

/** The longest that one request may keep all others waiting. */
const MAX_STALL_MS = 1_000
const AT_ONCE = 4
/** What the heap and the process may gain between the first half of a run and its end. */
const MAX_HEAP_GAIN = 64 * 1024 * 1024
const MAX_RESIDENT_GAIN = 512 * 1024 * 1024

/** Runs it. Returns what is wrong, each with the seed's words for it; empty if nothing is. */
export async function runFuzz(options: FuzzOptions): Promise<string[]> {
  const gateway = await startGatewayProcess()
  const faults: string[] = []
  try {
    // First: whoever was attacked has nothing left of what is counted by the minute.
    if (options.neighbours) {
      faults.push(...(await judgeNeighbours(gateway, options.note)))
      faults.push(...(await judgeWorstBodies(gateway, options.note)))
    }
    await attack(gateway, options, faults)
  } finally {
    await gateway.stop()
  }
  return faults
}

async function attack(gateway: GatewayProcess, options: FuzzOptions, faults: string[]): Promise<void> {
  const { world } = gateway
  const { seed, note } = options
  const random = createRandom(seed)
  const operations = await readOperations(world)
  const drawn = Array.from({ length: options.probes }, () => probeOf(random.pick(operations), world, random))
  const half = Math.ceil(drawn.length / 2)

  note(`${operations.length} operations, ${options.probes} probes`)
  await sendAll(gateway, drawn.slice(0, half), faults)
  const before = await gateway.vitals()
  const stopSlow = openSlowClients(world)
  await sendAll(gateway, drawn.slice(half), faults)
  stopSlow()
  const crossed = crossProbes(operations, world)
  note(`${crossed.length} probes of what belongs to others`)
  await sendAll(gateway, crossed, faults)
  note('raw sockets')
  faults.push(...(await abuseSockets(world, random)))
  await check(gateway, 'raw sockets', faults)
  const bombs = bombProbes(world, options.bombs).filter(() => random.once(options.everyBomb))
  note(`${bombs.length} bombs`)
  for (const bomb of bombs) await sendAll(gateway, [bomb], faults)
  await sendAll(gateway, [{ name: 'health', method: 'GET', path: '/healthz', headers: {} }], faults)
  const after = await gateway.vitals()
  if (after.heapBytes - before.heapBytes > MAX_HEAP_GAIN) faults.push(grown('heap', before.heapBytes, after.heapBytes))
  if (after.residentBytes - before.residentBytes > MAX_RESIDENT_GAIN) {
    faults.push(grown('process', before.residentBytes, after.residentBytes))
  }
}

/** A few at a time; after each lot the gateway is asked how it fared. */
async function sendAll(gateway: GatewayProcess, probes: readonly Probe[], faults: string[]): Promise<void> {
  for (let index = 0; index < probes.length; index += AT_ONCE) {
    const lot = probes.slice(index, index + AT_ONCE)
    const found = await Promise.all(lot.map((probe) => send(gateway.world, probe)))
    for (const [position, words] of found.entries()) {
      for (const word of words) faults.push(`${describe(lot[position])}: ${word}`)
    }
    await check(gateway, lot.map(({ name }) => name).join(', '), faults)
  }
}

async function check(gateway: GatewayProcess, name: string, faults: string[]): Promise<void> {
  const { stallMs, alarms } = await gateway.vitals()
  if (stallMs > MAX_STALL_MS) faults.push(`${name}: kept all others waiting for ${Math.round(stallMs)} ms`)
  for (const line of alarms) faults.push(`${name}: in the log: ${line.slice(0, 600)}`)
}

function describe(probe: Probe | undefined): string {
  if (!probe) return ''
  const { name, path, body, user } = probe
  return `${name} (${user ? 'user' : 'stranger'}, ${path.slice(0, 120)}, ${body?.slice(0, 300) ?? 'no body'})`
}

function grown(what: string, before: number, after: number): string {
  return `the ${what} grew from ${Math.round(before / 2 ** 20)} to ${Math.round(after / 2 ** 20)} MiB`
}
