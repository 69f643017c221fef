/** Reads settings as the gateway does, for tests of the configuration. */
import { type Config, type Environment, loadConfig } from '@/config/config'
import { formatFaults } from '@/lib/fault'

/** The configuration of a sound environment. Throws the faults of any other. */
export function load(environment: Environment): Config {
  const result = loadConfig(environment)
  if (result.kind === 'faulty') throw new Error(formatFaults('faulty', result.faults))
  return result.config
}

/** Each fault as `variable: message`; none of a sound environment. */
export function faultsOf(environment: Environment): string[] {
  const result = loadConfig(environment)
  return result.kind === 'faulty' ? result.faults.map(({ place, message }) => `${place}: ${message}`) : []
}
