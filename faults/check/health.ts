/** I10: after a fault a gateway is as it was before: memory, open files, sockets to the provider, a free event loop. */

import type { Footprint, GatewayProcess } from '@faults/world/gateway-process'
import type { World } from '@faults/world/world'
import { PATIENCE_MS, until } from '@test/support/until'
import type { Breach } from './evidence'

interface HealthCheck {
  check(): Promise<Breach[]>
  /** The largest growth of any gateway's memory since its baseline, in bytes. */
  growth(): number
}

const SETTLE_MS = 10_000
const MEMORY_FACTOR = 1.2
/** What a young process gains by warming up, whatever happens to it. */
const MEMORY_SLACK_BYTES = 96 * 1024 * 1024
/** Connections that pools keep open for later. */
const FILE_SLACK = 160
const LAG_LIMIT_MS = 250
const LAG_PROBES = 5

/** Creates the check of one world's gateways. A process that was started anew gets a new baseline. */
export function createHealthCheck(world: World, isQuick: boolean): HealthCheck {
  const baselines = new Map<string, Footprint & { pid: number }>()
  // How soon is judged in the long form only.
  const limitMs = isQuick ? PATIENCE_MS : SETTLE_MS
  let largestGrowth = 0

  async function checkFootprint(gateway: GatewayProcess): Promise<Breach[]> {
    const base = baselines.get(gateway.name)
    if (!base || base.pid !== gateway.pid) {
      baselines.set(gateway.name, { ...(await gateway.footprint()), pid: gateway.pid })
      return []
    }
    let now = await gateway.footprint()
    const isBack = () =>
      now.residentBytes <= base.residentBytes * MEMORY_FACTOR + MEMORY_SLACK_BYTES &&
      now.openFiles <= base.openFiles + FILE_SLACK
    try {
      await until(
        async () => {
          now = await gateway.footprint()
          return isBack()
        },
        'the footprint',
        limitMs,
      )
    } catch {
      const detail = `${gateway.name} holds ${describe(now)}, and held ${describe(base)}`
      return [{ invariant: 'I10', detail }]
    } finally {
      largestGrowth = Math.max(largestGrowth, now.residentBytes - base.residentBytes)
    }
    return []
  }

  async function checkLag(gateway: GatewayProcess): Promise<Breach[]> {
    const times: number[] = []
    for (let probe = 0; probe < LAG_PROBES; probe++) {
      const started = performance.now()
      const response = await fetch(`${gateway.url}/healthz`).catch(() => undefined)
      await response?.arrayBuffer()
      times.push(response?.ok ? performance.now() - started : Number.POSITIVE_INFINITY)
    }
    const fastest = Math.min(...times)
    return fastest <= LAG_LIMIT_MS ? [] : [{ invariant: 'I10', detail: `${gateway.name} answers after ${fastest} ms` }]
  }

  return {
    async check() {
      const open = () => world.upstream.openAnswers() === 0
      const left = await until(open, 'the provider to be left', limitMs).catch(() => false)
      const breaches: Breach[] = left ? [] : [{ invariant: 'I10', detail: 'calls to the provider are still open' }]
      for (const gateway of world.gateways) {
        breaches.push(...(await checkFootprint(gateway)), ...(isQuick ? [] : await checkLag(gateway)))
      }
      return breaches
    },
    growth: () => largestGrowth,
  }
}

function describe({ residentBytes, openFiles }: Footprint): string {
  return `${Math.round(residentBytes / 1024 / 1024)} MiB and ${openFiles} files`
}
