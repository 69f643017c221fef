/** All servers of a comparison, in the order of the report. */
import { gateway, gatewayExecutable, gatewayOf, gatewayTwice, lean } from './gateway'
import { bifrost, litellm, portkey } from './others'
import type { PeerKind } from './peer'
import { bareBun, direct, featuredBun, nginx } from './plain'

/** This gateway and that of another checkout, and what all ratios are against. */
export function twoCheckouts(folder: string): PeerKind[] {
  return [bareBun, gatewayOf(folder), gateway]
}

/** Peers of a run; a quick one leaves out those that take long to install or to start. */
export function peersOf(mode: 'quick' | 'full'): PeerKind[] {
  const quick = [direct, nginx, bareBun, featuredBun, portkey, bifrost, lean, gateway]
  return mode === 'quick' ? quick : [...quick, gatewayExecutable, gatewayTwice, litellm]
}
