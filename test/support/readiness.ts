/** What readiness says of a gateway whose stores are up. */
import { until } from './until'

type Readiness = { status: number; reasons: Record<string, string> }

/**
 * Asks until no store is called `unreachable`: readiness waits a second at most for a store's answer, which a busy machine may take
 * longer to give, and a client that was refused may be about to connect again.
 */
export async function readinessOf(url: string): Promise<Readiness> {
  return await until(async () => {
    const response = await fetch(`${url}/readyz`)
    const { reasons = {} } = (await response.json()) as Partial<Readiness>
    return !Object.values(reasons).includes('unreachable') && { status: response.status, reasons }
  }, `the stores of ${url} to be reachable`)
}
