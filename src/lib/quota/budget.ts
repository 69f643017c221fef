/** A bounded resource with a limit per subject, a total limit, and a queue in which the subject that uses least goes first. */

/** A part of the resource, until released. */
export interface Lease {
  /** Takes more without waiting; returns whether there was enough. */
  grow(amount: number): boolean
  /** Releases the whole lease. Safe to call again. */
  release(): void
}

interface Budget {
  /** A lease, at once or after waiting; undefined if the queue is full, or after the time limit. */
  take(subject: string, amount: number): Lease | undefined | Promise<Lease | undefined>
  /** A lease at once, or undefined. */
  takeNow(subject: string, amount: number): Lease | undefined
  /** The used amount, and the number of waiting callers. */
  state(): { used: number; waiting: number }
}

type BudgetOptions = {
  /** The limit per subject. A subject that uses nothing may take more at once, since it could otherwise never get such an amount. */
  perSubject: number
  total: number
  /** The maximum number of waiting callers in total, and per subject. */
  maxWaiting: number
  maxWaitingEach: number
  waitMs: number
}

type Waiting = { subject: string; amount: number; enter(lease: Lease | undefined): void }

export function createBudget({ perSubject, total, maxWaiting, maxWaitingEach, waitMs }: BudgetOptions): Budget {
  const usedBy = new Map<string, number>()
  const line: Waiting[] = []
  let used = 0

  const usedOf = (subject: string) => usedBy.get(subject) ?? 0

  function fits(subject: string, amount: number): boolean {
    const own = usedOf(subject)
    return (own === 0 || own + amount <= perSubject) && (used === 0 || used + amount <= total)
  }

  function add(subject: string, amount: number): void {
    used += amount
    const own = usedOf(subject) + amount
    if (own === 0) usedBy.delete(subject)
    else usedBy.set(subject, own)
  }

  function open(subject: string, amount: number): Lease {
    let taken = amount
    add(subject, amount)
    return {
      grow(more) {
        if (taken > 0 && usedOf(subject) > taken && usedOf(subject) + more > perSubject) return false
        if (used > taken && used + more > total) return false
        taken += more
        add(subject, more)
        return true
      },
      release() {
        if (taken === 0) return
        add(subject, -taken)
        taken = 0
        admit()
      },
    }
  }

  /** Serves waiting callers, the smallest users first. Larger users can't overtake a caller that waits only for the total limit. */
  function admit(): void {
    for (;;) {
      let next: Waiting | undefined
      for (const waiting of line) {
        if (isOwnFault(waiting)) continue
        if (!next || usedOf(waiting.subject) < usedOf(next.subject)) next = waiting
      }
      if (!next || !fits(next.subject, next.amount)) return
      line.splice(line.indexOf(next), 1)
      next.enter(open(next.subject, next.amount))
    }
  }

  /** Whether the caller waits for its own subject's limit. */
  function isOwnFault({ subject, amount }: Waiting): boolean {
    const own = usedOf(subject)
    return own > 0 && own + amount > perSubject
  }

  /** Whether a caller that uses no more than `subject` waits only for the total limit. */
  function isOvertaking(subject: string): boolean {
    return line.some((waiting) => !isOwnFault(waiting) && usedOf(waiting.subject) <= usedOf(subject))
  }

  function queue(subject: string, amount: number): Promise<Lease | undefined> | undefined {
    if (line.length >= maxWaiting) return undefined
    if (line.filter((waiting) => waiting.subject === subject).length >= maxWaitingEach) return undefined
    const { promise, resolve } = Promise.withResolvers<Lease | undefined>()
    const waiting: Waiting = {
      subject,
      amount,
      enter(lease) {
        clearTimeout(timer)
        resolve(lease)
      },
    }
    const timer = setTimeout(() => {
      line.splice(line.indexOf(waiting), 1)
      resolve(undefined)
      // Callers behind it in the queue may have enough room now.
      admit()
    }, waitMs)
    line.push(waiting)
    return promise
  }

  const takeNow = (subject: string, amount: number) =>
    fits(subject, amount) && (line.length === 0 || !isOvertaking(subject)) ? open(subject, amount) : undefined

  return {
    take: (subject, amount) => takeNow(subject, amount) ?? queue(subject, amount),
    takeNow,
    state: () => ({ used, waiting: line.length }),
  }
}
