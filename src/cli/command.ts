/** An operator command: its words, its options, and its action on a gateway's stores. */
import type { Environment } from '@/config/config'
import type { Services, Surroundings } from './services'

type Option = {
  /** The value's placeholder in the help, such as `USD`; empty for an option without a value. */
  value: string
  isRequired: boolean
  help: string
}

/** The key in {@link Values} for an argument without an option name. */
export const OPERAND = 'operand'

export type Values = Readonly<Record<string, string>>

export type CommandResult = {
  output: Record<string, unknown>
  /** Printed instead of `output`, such as a CSV file. */
  text?: string
  /** Set if the command did its work and found a problem. */
  exitCode?: number
  /** Lines for people, printed on stderr. */
  notes?: readonly string[]
}

type CommandWork = (services: Services) => Promise<CommandResult>

export type Command = CommandWords & (StoreCommand | LoneCommand)

type CommandWords = {
  /** The command's words, such as `account create`. */
  words: string
  help: string
  operand?: Option
  options: Readonly<Record<string, Option>>
}

type LoneCommand = { runAlone(values: Values, environment: Environment): Promise<CommandResult> }

type StoreCommand = {
  runAlone?: undefined
  /**
   * Whether the command may run before the first start of a gateway. For other commands, empty embedded stores mean that the wrong stores
   * were opened.
   */
  mayBeginEmpty?: boolean
  /** Checks before any store is opened. If it returns a result, the command prints that and ends. */
  checkFirst?(environment: Environment): Promise<CommandResult | undefined>
  /** Validates the values before any store is opened, and returns the work. Throws a CommandFailure. */
  prepare(values: Values, surroundings: Surroundings): CommandWork | Promise<CommandWork>
}

/** A required option. */
export function required(value: string, help: string): Option {
  return { value, isRequired: true, help }
}

/** An optional option. */
export function optional(value: string, help: string): Option {
  return { value, isRequired: false, help }
}

/** An option without a value; `Values` has {@link GIVEN} if it was given. */
export function flag(help: string): Option {
  return { value: '', isRequired: false, help }
}

/** The value of a given {@link flag}. */
export const GIVEN = 'given'

/** An argument without an option name, such as `key show ID`. */
export function operand(value: string, help: string, isRequired = true): Option {
  return { value, isRequired, help }
}
