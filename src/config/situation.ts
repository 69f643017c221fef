/** Decides which free features a start offers. With real providers, it offers one only if a setting says so. */
import type { Fault } from '@/lib/fault'
import { isWeakPassword } from '@/lib/weak-password'

export type Situation = {
  /** No provider has a key: all answers are simulated. */
  isSimulated?: boolean
  /** The variables that would give a provider a key, if none has one. */
  keyVariables?: readonly string[]
  isCommand?: boolean
}

/** Whether no request has a real cost. False in production. */
export function isWorthless({ NODE_ENV: mode }: { NODE_ENV?: string | undefined }, situation: Situation): boolean {
  return mode !== 'production' && (situation.isSimulated ?? false)
}

export const NODE_ENVS = ['production', 'development', 'test'] as const

const ANY_ADDRESS = '0.0.0.0'
const LOOPBACK_ADDRESS = '127.0.0.1'

type SituationValues = {
  NODE_ENV?: string | undefined
  HOST?: string | undefined
  DEMO_ACCOUNT?: 'on' | 'off' | undefined
}

/** The default listen address: loopback for a trial, all addresses once a provider key or NODE_ENV is set. */
export function hostOf({ HOST: host, NODE_ENV: mode }: SituationValues, { isSimulated = false }: Situation): string {
  return host ?? (isSimulated && mode === undefined ? LOOPBACK_ADDRESS : ANY_ADDRESS)
}

/** Whether only this machine can reach a listener. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)
}

/** Whether a first start makes the demo account. */
export function offersDemoAccount(
  { DEMO_ACCOUNT: asked, NODE_ENV: mode }: SituationValues,
  situation: Situation,
): boolean {
  if (asked !== undefined) return asked === 'on'
  return isWorthless({ NODE_ENV: mode }, situation)
}

/** Reports settings that would give anybody free credit, or access to credit. */
export function situationFaults(values: Record<string, unknown>, situation: Situation): Fault[] {
  const faults: Fault[] = []
  const { HOST, NODE_ENV, DEMO_ACCOUNT, DEPOSIT_PROVIDER } = values
  if (NODE_ENV === 'production' && DEMO_ACCOUNT === 'on') {
    faults.push({ place: 'DEMO_ACCOUNT', message: 'NODE_ENV=production refuses credit that nobody has paid for' })
  }
  if (NODE_ENV === 'production' && !situation.isCommand) faults.push(...productionFaults(values))
  if (NODE_ENV === 'production' && situation.keyVariables) {
    const message = 'is unset; no provider has a key, and production has no sandbox'
    faults.push({ place: situation.keyVariables.join(' or '), message })
  }
  const isReachable = typeof HOST !== 'string' || !isLoopback(HOST)
  const isTrial = DEPOSIT_PROVIDER === 'sandbox' || DEPOSIT_PROVIDER === 'stripe'
  if (isTrial && NODE_ENV !== 'production' && !situation.isSimulated && isReachable) {
    const trial = DEPOSIT_PROVIDER === 'sandbox' ? 'the sandbox' : 'a test key of Stripe'
    faults.push({
      place: 'DEPOSIT_PROVIDER',
      message: `${trial} credits what nobody paid; beside a provider key it needs HOST=127.0.0.1`,
    })
  }
  return faults
}

function productionFaults({ AUTH_SECRET, ADMIN_EMAIL, ADMIN_PASSWORD }: Record<string, unknown>): Fault[] {
  const faults: Fault[] = []
  if (AUTH_SECRET === undefined) {
    const message =
      'is unset or faulty; in production it may not lie in the database that it protects: openssl rand -base64 33'
    faults.push({ place: 'AUTH_SECRET', message })
  }
  if (typeof ADMIN_PASSWORD === 'string' && isWeakPassword(ADMIN_PASSWORD, [String(ADMIN_EMAIL)])) {
    faults.push({ place: 'ADMIN_PASSWORD', message: 'is among the first guesses of everybody; production refuses it' })
  }
  return faults
}
