/** All servers of a comparison, in the order of the report. */
import type { Mode } from '@bench/report/scenario-names'
import { gateway, gatewayExecutable, gatewayOf, gatewayTraced, gatewayTwice, lean } from './gateway'
import { bifrost, bifrostWithLogs, litellm, portkey } from './others'
import type { PeerKind } from './peer'
import { bareBun, direct, featuredBun, nginx } from './plain'

/** This gateway and that of another checkout, and what all ratios are against. */
export function twoCheckouts(folder: string): PeerKind[] {
  return [bareBun, gatewayOf(folder), gateway]
}

/** Peers of a run. */
export function peersOf(mode: Mode): PeerKind[] {
  return ALL.filter(({ modes }) => modes.includes(mode))
}

const ALL: readonly PeerKind[] = [
  ...[direct, nginx, bareBun, featuredBun, portkey, bifrost, bifrostWithLogs, lean],
  ...[gateway, gatewayExecutable, gatewayTwice, gatewayTraced, litellm],
]
