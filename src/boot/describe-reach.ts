/** Says in one line who can reach a gateway that has started, and what they find there. */
import type { Config } from '@/config/config'
import { isLoopback } from '@/config/situation'

/** `isSandboxed`: answers are simulated. */
export function describeReach(config: Config, isSandboxed: boolean): string {
  const { host, signIn, topUps } = config
  const who = isLoopback(host) ? `this machine only (${host})` : `whoever reaches ${host}`
  const answers = isSandboxed ? 'simulated answers' : "your providers' answers, for keys with credit"
  return `${who}: ${answers}; ${signUpOf(signIn)}; ${depositsOf(topUps)}`
}

function signUpOf({ signUp, mail }: Config['signIn']): string {
  if (signUp === 'closed') return 'sign-up closed'
  return mail ? 'sign-up open, addresses confirmed' : 'sign-up open, addresses not confirmed'
}

function depositsOf({ deposit }: Config['topUps']): string {
  return deposit ? 'sandbox deposits, which credit what nobody paid' : 'no deposits'
}
