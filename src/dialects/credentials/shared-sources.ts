/** One source of tokens for each identity in a process, whichever providers and catalogues name it: kept as long as any of them does. */
import { sha256Hex } from '@/lib/ids'
import type { TokenSource } from './token-source'

const sources = new Map<string, WeakRef<TokenSource>>()

/** The source of `identity`, which says all that its tokens depend on, secrets included; created where there is none. */
export function sharedSource(identity: readonly unknown[], create: () => TokenSource): TokenSource {
  const name = sha256Hex(JSON.stringify(identity))
  const known = sources.get(name)?.deref()
  if (known) return known
  const source = create()
  sources.set(name, new WeakRef(source))
  return source
}
