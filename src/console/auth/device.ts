/** Browsers in which somebody has signed in: a random word in a cookie tells them from strangers, and opens nothing. */
import { randomBase62 } from '@/lib/ids'
import { devicePairOf, KNOWN_SECONDS, pairOf } from './limits'
import type { AuthParts } from './parts'
import { cookiePrefix, type Visitor } from './visitor'

const DEVICE_CHARS = 32

/** How a visitor is known as somebody who has signed in with `email` before; undefined where they are not. */
export async function knownBy(
  { throttle }: Pick<AuthParts, 'throttle'>,
  visitor: Visitor,
  email: string,
): Promise<'address' | { device: string } | undefined> {
  if (await throttle.isRemembered('known', pairOf(visitor.address, email))) return 'address'
  const device = deviceOf(visitor)
  const isKnown = device !== undefined && (await throttle.isRemembered('device', devicePairOf(device, email)))
  return isKnown ? { device } : undefined
}

/** From now on the address and the browser are known. Returns the cookie that says so. */
export async function rememberVisitor(
  { throttle, publicUrl }: Pick<AuthParts, 'throttle' | 'publicUrl'>,
  visitor: Visitor,
  email: string,
): Promise<string> {
  const device = deviceOf(visitor) ?? randomBase62(DEVICE_CHARS)
  await throttle.remember('known', pairOf(visitor.address, email), KNOWN_SECONDS)
  await throttle.remember('device', devicePairOf(device, email), KNOWN_SECONDS)
  const secure = publicUrl?.startsWith('https://') ? '; Secure' : ''
  return `${cookiePrefix(publicUrl)}.device=${device}; Max-Age=${KNOWN_SECONDS}; Path=/; HttpOnly${secure}; SameSite=Lax`
}

function deviceOf({ request }: Visitor): string | undefined {
  return /(?:^|;\s*)(?:__Host-)?gateway\.device=([0-9A-Za-z]{32})(?:;|$)/.exec(request.headers.get('cookie') ?? '')?.[1]
}
