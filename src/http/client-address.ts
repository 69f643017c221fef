/** The client address of a request: the peer of its connection. Behind trusted proxies, it is the peer of the outermost proxy. */

import { peerOf } from './silence'

const peers = new WeakMap<Request, string>()

/** Stores the peer of a request's connection right away, because a closed connection has no peer any more. */
export function rememberPeer(request: Request, peer: string): void {
  peers.set(request, peer)
}

/** The client's address. Each of `trustedHops` proxies appends one address to X-Forwarded-For. The first of these is the client's. */
export function clientAddress(request: Request, trustedHops: number): string {
  const peer = peers.get(request) ?? peerOf(request) ?? UNKNOWN
  if (trustedHops === 0) return peer
  const forwarded = (request.headers.get('x-forwarded-for') ?? '').split(',').flatMap((entry) => entry.trim() || [])
  const hops = [...forwarded, peer]
  const address = hops[Math.max(0, hops.length - 1 - trustedHops)] ?? peer
  return ADDRESS.test(address) ? address : peer
}

/** A request's client address, computed only for keys with address lists. */
export type From = { readonly clientAddress: string }

/** The address that `request` came from, computed when it is read. */
export function sentFrom({ trustedProxyHops }: { trustedProxyHops: number }, request: Request): From {
  return {
    get clientAddress(): string {
      return clientAddress(request, trustedProxyHops)
    },
  }
}

/** The address of requests without a socket, as in tests. */
const UNKNOWN = '0.0.0.0'
const ADDRESS = /^[0-9a-fA-F.:]{2,45}$/
