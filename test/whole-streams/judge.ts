/** What goes in comes out: what a client's library assembles from the gateway is what the provider's assembles from the provider. */
import type { Case } from './cases'
import { cutInto } from './cuts'
import type { Said } from './script'
import type { World } from './world'

const AT_ONCE = 16
const SHOWN_CHARS = 160

/** Runs `cases`, those whose answers are late last; returns a line for each that differs. */
export async function judge(world: World, cases: readonly Case[]): Promise<string[]> {
  const late = cases.filter(({ way }) => way === 'late')
  const faults = await judgeAll(
    world,
    cases.filter(({ way }) => way !== 'late'),
  )
  world.setLate(true)
  faults.push(...(await judgeAll(world, late)))
  world.setLate(false)
  return faults
}

async function judgeAll(world: World, cases: readonly Case[]): Promise<string[]> {
  const faults: string[] = []
  const left = cases.values()
  async function work(): Promise<void> {
    for (const each of left) faults.push(...(await judgeOne(world, each)))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return faults
}

async function judgeOne(
  world: World,
  { name, client, provider, way, cut, events, random, said }: Case,
): Promise<string[]> {
  const reads = cutInto(cut, events, random)
  try {
    const direct = await world.askDirectly(provider, reads)
    const told = await world.ask({ client, provider, way, reads })
    const written = said ? difference(said, direct) : undefined
    const passed = difference(direct, told)
    return [
      ...(written === undefined ? [] : [`${name}: the provider's own library: ${written}`]),
      ...(passed === undefined ? [] : [`${name}: ${passed}`]),
    ]
  } catch (error) {
    return [`${name}: ${String(error)}`]
  }
}

/** Where the second differs from the first; undefined if it does not. */
export function difference(wanted: Said, got: Said): string | undefined {
  const [one, other] = [textOf(wanted), textOf(got)]
  if (one === other) return undefined
  let at = 0
  while (one[at] === other[at]) at++
  const from = Math.max(0, at - SHOWN_CHARS / 4)
  return `${other.length} for ${one.length} characters; from ${from}: ${other.slice(from, from + SHOWN_CHARS)} for ${one.slice(from, from + SHOWN_CHARS)}`
}

function textOf({ text, reasoning, calls }: Said): string {
  const sorted = calls.map((call) => JSON.stringify(call)).toSorted()
  return JSON.stringify({ text, reasoning, calls: sorted })
}
