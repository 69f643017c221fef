/** Reads processor time and memory of whole process trees from Linux's /proc, to the nanosecond and without any help of theirs. */
import { readdirSync, readFileSync } from 'node:fs'

/** Nanoseconds on a processor by thread, and the pages that are resident, of a process and all its descendants. */
export type TreeReading = { nanosecondsByThread: ReadonlyMap<string, number>; residentBytes: number }

const PAGE_BYTES = 4096

/**
 * Reads the tree below each of `roots`. Threads that end between two readings are lost, which is why servers that keep their
 * threads are measured well by it and short-lived programs are not.
 */
export function readTree(roots: readonly number[]): TreeReading {
  const nanosecondsByThread = new Map<string, number>()
  let residentBytes = 0
  for (const pid of descendants(roots, readParents())) {
    residentBytes += parseResidentBytes(read(`/proc/${pid}/statm`))
    for (const thread of list(`/proc/${pid}/task`)) {
      const nanoseconds = parseSchedstat(read(`/proc/${pid}/task/${thread}/schedstat`))
      if (nanoseconds !== undefined) nanosecondsByThread.set(`${pid}/${thread}`, nanoseconds)
    }
  }
  return { nanosecondsByThread, residentBytes }
}

/** Microseconds of processor time between two readings of the same tree. */
export function microsecondsBetween(before: TreeReading, after: TreeReading): number {
  let nanoseconds = 0
  for (const [thread, spent] of after.nanosecondsByThread) {
    nanoseconds += spent - (before.nanosecondsByThread.get(thread) ?? 0)
  }
  return nanoseconds / 1000
}

/** The same by the names that the threads have now; those that are gone have none and are left out. */
export function microsecondsByName(before: TreeReading, after: TreeReading): Record<string, number> {
  const byName: Record<string, number> = {}
  for (const [thread, spent] of after.nanosecondsByThread) {
    const [pid, id] = thread.split('/')
    const name = read(`/proc/${pid}/task/${id}/comm`).trim()
    const nanoseconds = spent - (before.nanosecondsByThread.get(thread) ?? 0)
    if (name !== '') byName[name] = (byName[name] ?? 0) + nanoseconds / 1000
  }
  return byName
}

/** All processes at or below `roots`, given each process's parent. */
export function descendants(roots: readonly number[], parents: ReadonlyMap<number, number>): number[] {
  const children = new Map<number, number[]>()
  for (const [pid, parent] of parents) children.set(parent, [...(children.get(parent) ?? []), pid])
  const found = new Set<number>()
  const pending = [...roots]
  for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
    if (found.has(pid)) continue
    found.add(pid)
    pending.push(...(children.get(pid) ?? []))
  }
  return [...found]
}

/** The parent in the text of /proc/PID/stat, whose second field is a name that may hold spaces and brackets. */
export function parseParent(stat: string): number | undefined {
  const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  return Number.isSafeInteger(parent) && stat.includes(')') ? parent : undefined
}

/** Nanoseconds on a processor: the first field of a schedstat; undefined where the thread is gone. */
export function parseSchedstat(text: string): number | undefined {
  const nanoseconds = Number.parseInt(text, 10)
  return Number.isNaN(nanoseconds) ? undefined : nanoseconds
}

/** Resident memory: the second field of a statm, in pages. */
export function parseResidentBytes(statm: string): number {
  return Number(statm.split(' ')[1] ?? 0) * PAGE_BYTES
}

function readParents(): Map<number, number> {
  const parents = new Map<number, number>()
  for (const name of list('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = parseParent(read(`/proc/${name}/stat`))
    if (parent !== undefined) parents.set(Number(name), parent)
  }
  return parents
}

/** A process may end while it is looked at: then there is nothing to read. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
