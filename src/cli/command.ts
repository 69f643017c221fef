/** What an operator command is: its words, its options, and what it does with the stores of a gateway. */
import type { Services } from './services'

type Option = {
  /** What stands for the value in the help, e.g. `USD`. */
  value: string
  isRequired: boolean
  help: string
}

/** Values by option name; a required one is always there. */
export type Values = Readonly<Record<string, string>>

export type CommandResult = {
  /** Printed as JSON on stdout. */
  output: Record<string, unknown>
  /** A command that has done its work and found something wrong says so by its exit code. */
  exitCode?: number
}

type CommandWork = (services: Services) => Promise<CommandResult>

export type Command = {
  /** E.g. `account create`. */
  words: string
  help: string
  options: Readonly<Record<string, Option>>
  /**
   * Checks the values before any store is opened, throwing a CommandFailure, and returns the work. So a wrong number is told
   * at once, and work never begins with half of its values.
   */
  prepare(values: Values): CommandWork | Promise<CommandWork>
}

/** An option that must be given. */
export function required(value: string, help: string): Option {
  return { value, isRequired: true, help }
}

/** An option that may be left out. */
export function optional(value: string, help: string): Option {
  return { value, isRequired: false, help }
}
