/** Orders whose process dies at a statement: open transactions are rolled back, and nothing happens after. */
import { createOrders, type Orders, type OrdersDeps } from '@/console/orders/orders'

const STATEMENTS: ReadonlySet<string | symbol> = new Set(['select', 'insert', 'update', 'delete', 'execute', '$count'])

/** Dies before the statement (or the call of the ledger, or the commit) number `at`, counted from 0. */
export function crashingOrders(deps: OrdersDeps, at: number): { orders: Orders; isDead(): boolean } {
  let left = at
  let isDead = false
  function step(): void {
    if (!isDead && left-- > 0) return
    isDead = true
    throw new Error('the process has died')
  }

  /** `counts` says which methods are a step. */
  function guard<T extends object>(target: T, counts: (name: string | symbol) => boolean): T {
    return new Proxy(target, {
      get(object, name) {
        const value: unknown = Reflect.get(object, name, object)
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => {
          if (counts(name)) step()
          return Reflect.apply(value, object, name === 'transaction' ? inTransaction(given, counts) : given)
        }
      },
    })
  }

  function inTransaction([work, ...rest]: unknown[], counts: (name: string | symbol) => boolean): unknown[] {
    async function guarded(transaction: object): Promise<unknown> {
      const result: unknown = typeof work === 'function' ? await work(guard(transaction, counts)) : undefined
      // Before the commit.
      step()
      return result
    }
    return [guarded, ...rest]
  }

  const database = { ...deps.database, db: guard(deps.database.db, (name) => STATEMENTS.has(name)) }
  const ledger = guard(deps.ledger, () => true)
  return { orders: createOrders({ ...deps, database, ledger }), isDead: () => isDead }
}
