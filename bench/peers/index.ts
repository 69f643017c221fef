/** All servers of a comparison, in the order of the report. */
import { gateway, gatewayTwice } from './gateway'
import { bifrost, litellm, portkey } from './others'
import type { PeerKind } from './peer'
import { bareBun, direct, featuredBun, nginx } from './plain'

/** Peers of a run; a quick one leaves out those that take long to install or to start. */
export function peersOf(mode: 'quick' | 'full'): PeerKind[] {
  const quick = [direct, nginx, bareBun, featuredBun, portkey, bifrost, gateway]
  return mode === 'quick' ? quick : [...quick, gatewayTwice, litellm]
}
