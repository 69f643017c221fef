/** Where a request comes from: the peer of its connection, or, behind proxies that are trusted, what the outermost of them saw. */

/** The server that a request came to, which knows the peer as long as the connection lives. */
type PeerSource = { requestIP(request: Request): { address: string } | null }

const peers = new WeakMap<Request, string | PeerSource>()

/**
 * Notes the peer of the connection that `request` came in on, or whom to ask for it. What is counted or put on record by address
 * needs it at once: whoever hangs up would be nobody.
 */
export function rememberPeer(request: Request, peer: string | PeerSource): void {
  peers.set(request, peer)
}

/**
 * The client's network address. Each of `trustedHops` proxies in front has appended the address of its own peer to
 * X-Forwarded-For, so the client's is that many from the right; whatever stands further left is the client's own invention.
 */
export function clientAddress(request: Request, trustedHops: number): string {
  const source = peers.get(request)
  const peer = (typeof source === 'object' ? source.requestIP(request)?.address : source) ?? UNKNOWN
  if (trustedHops === 0) return peer
  const forwarded = (request.headers.get('x-forwarded-for') ?? '').split(',').flatMap((entry) => entry.trim() || [])
  const hops = [...forwarded, peer]
  const address = hops[Math.max(0, hops.length - 1 - trustedHops)] ?? peer
  return ADDRESS.test(address) ? address : peer
}

/** Requests that came through no socket, as in tests of the application alone. */
const UNKNOWN = '0.0.0.0'
const ADDRESS = /^[0-9a-fA-F.:]{2,45}$/
