/** An operator command: its words, its options, and its action on a gateway's stores. */
import type { Environment } from '@/config/config'
import type { Services, Surroundings } from './services'

type Option = {
  /** The placeholder of the value in the help, e.g. `USD`; empty for an option without a value. */
  value: string
  isRequired: boolean
  help: string
}

/** The name under which the values have what follows a command's words without being an option. */
export const OPERAND = 'operand'

/** Values by option name; a required one is always there. */
export type Values = Readonly<Record<string, string>>

export type CommandResult = {
  /** Printed on stdout: as JSON for programs, as facts and tables for people. */
  output: Record<string, unknown>
  /** A command that has done its work and found something wrong says so by its exit code. */
  exitCode?: number
}

type CommandWork = (services: Services) => Promise<CommandResult>

export type Command = CommandWords & (StoreCommand | LoneCommand)

type CommandWords = {
  /** E.g. `account create`. */
  words: string
  help: string
  operand?: Option
  options: Readonly<Record<string, Option>>
}

/** Works without any store. */
type LoneCommand = { runAlone(values: Values, environment: Environment): Promise<CommandResult> }

type StoreCommand = {
  runAlone?: undefined
  /** Makes sense where no gateway has run yet: elsewhere empty embedded stores mean that those of the gateway were missed. */
  mayBeginEmpty?: boolean
  /** A check before any store is opened; if it returns a result, none is. */
  checkFirst?(environment: Environment): Promise<CommandResult | undefined>
  /** Checks the values before any store is opened, throwing a CommandFailure, and returns the work. */
  prepare(values: Values, surroundings: Surroundings): CommandWork | Promise<CommandWork>
}

/** An option that must be given. */
export function required(value: string, help: string): Option {
  return { value, isRequired: true, help }
}

/** An option that may be left out. */
export function optional(value: string, help: string): Option {
  return { value, isRequired: false, help }
}

/** An option without a value; its own is {@link GIVEN} where it was given. */
export function flag(help: string): Option {
  return { value: '', isRequired: false, help }
}

/** The value of a {@link flag}. */
export const GIVEN = 'given'

/** What is named without an option: `key show ID`. */
export function operand(value: string, help: string, isRequired = true): Option {
  return { value, isRequired, help }
}
