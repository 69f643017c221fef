import { parseArgs } from 'node:util'
import { PROVIDER_COMMANDS } from '@/cli/catalog/catalog-commands'
import type { Environment } from '@/config/config'
import { ALERT_OPERATIONS } from '@/people/alerts/operations'
import { BUDGET_OPERATIONS } from '@/people/budgets/operations'
import { KEY_OPERATIONS } from '@/people/keys/operations'
import { MAIL_COMMANDS } from '@/people/mails/commands'
import { MEMBER_OPERATIONS, MEMBER_POLICY_OPERATIONS } from '@/people/members/operations'
import { commandsOf } from '@/people/operation'
import { OPERATOR_KEY_COMMANDS } from '@/people/operators/commands'
import { CREDIT_ADMINISTRATION } from '@/people/orders/admin-operations'
import { SETTING_OPERATIONS } from '@/people/settings/operations'
import { USAGE_COMMANDS } from '@/people/usage/commands'
import { REQUEST_COMMANDS } from '@/people/usage/request-commands'
import { ACCOUNT_COMMANDS, ACCOUNT_LOOKUPS } from './account-commands'
import { AUDIT_COMMANDS } from './audit-commands'
import { BOOKS_COMMANDS } from './books-command'
import { CATALOG_COMMANDS } from './catalog/catalog-commands'
import { type Command, type CommandResult, GIVEN, OPERAND, type Values } from './command'
import { fail } from './failure'
import { KEY_LOOKUPS } from './key-lookups'
import { LEDGER_COMMANDS } from './ledger-commands'
import { MANAGEMENT_KEY_COMMANDS } from './management/management-key-commands'
import { commandText, helpText, listText } from './print/help'
import { SCHEMA_COMMANDS } from './schema/schema-commands'
import type { Services, Surroundings } from './services'
import { nearest } from './suggest'
import { USAGE_ARCHIVE_COMMANDS } from './usage-archive-commands'
import { USER_COMMANDS, USER_LOOKUPS } from './user-commands'

const COMMANDS: readonly Command[] = [
  ...ACCOUNT_LOOKUPS,
  ...ACCOUNT_COMMANDS,
  ...commandsOf(MEMBER_OPERATIONS),
  ...commandsOf(BUDGET_OPERATIONS),
  ...commandsOf(ALERT_OPERATIONS),
  ...KEY_LOOKUPS,
  ...commandsOf(KEY_OPERATIONS),
  ...MANAGEMENT_KEY_COMMANDS,
  ...OPERATOR_KEY_COMMANDS,
  ...commandsOf(MEMBER_POLICY_OPERATIONS),
  ...commandsOf(SETTING_OPERATIONS),
  ...USER_LOOKUPS,
  ...USER_COMMANDS,
  ...commandsOf(CREDIT_ADMINISTRATION),
  ...USAGE_COMMANDS,
  ...BOOKS_COMMANDS,
  ...USAGE_ARCHIVE_COMMANDS,
  ...REQUEST_COMMANDS,
  ...LEDGER_COMMANDS,
  ...AUDIT_COMMANDS,
  ...MAIL_COMMANDS,
  ...CATALOG_COMMANDS,
  ...PROVIDER_COMMANDS,
  ...SCHEMA_COMMANDS,
]

/** A parsed command. `work` needs the stores; `alone` doesn't. `isJson`: prints JSON even at a terminal. */
type Parsed =
  | { kind: 'help'; text: string }
  | {
      kind: 'work'
      isJson: boolean
      mayBeginEmpty: boolean
      checkFirst(environment: Environment): Promise<CommandResult | undefined>
      run(services: Services): Promise<CommandResult>
    }
  | { kind: 'alone'; isJson: boolean; run(environment: Environment): Promise<CommandResult> }

const HELP_WORDS = ['help', '--help', '-h']

/** Parses `args` (without the program's name) into a command, its values and the output form. Throws a CommandFailure with the reason. */
export async function parseCommand(args: readonly string[], surroundings: Surroundings): Promise<Parsed> {
  const [noun = 'help'] = args
  if (HELP_WORDS.includes(noun))
    return { kind: 'help', text: args.length > 1 ? helpOn(args.slice(1)) : helpText(COMMANDS) }
  const isHelp = args.some((arg) => HELP_WORDS.slice(1).includes(arg))
  if (isHelp) return { kind: 'help', text: helpOn(args.filter((arg) => !arg.startsWith('-'))) }
  const { command, rest } = findCommand(args)
  const { values, isJson } = readOptions(command, rest)
  if (command.runAlone) {
    const { runAlone } = command
    return { kind: 'alone', isJson, run: (environment) => runAlone(values, environment) }
  }
  const { mayBeginEmpty = false, checkFirst = async () => undefined } = command
  return { kind: 'work', isJson, mayBeginEmpty, checkFirst, run: await command.prepare(values, surroundings) }
}

/** Most commands have two words, some three. A one-word command is followed by an option or nothing. */
function findCommand(args: readonly string[]): { command: Command; rest: string[] } {
  const [noun = '', verb = '', third = ''] = args
  const three = COMMANDS.find(({ words }) => words === `${noun} ${verb} ${third}`)
  if (three) return { command: three, rest: args.slice(3) }
  const two = COMMANDS.find(({ words }) => words === `${noun} ${verb}`)
  if (two) return { command: two, rest: args.slice(2) }
  const one = COMMANDS.find(({ words }) => words === noun)
  if (one && (verb === '' || verb.startsWith('-'))) return { command: one, rest: args.slice(1) }
  return fail(
    unknown(
      [noun, verb]
        .filter((word) => !word.startsWith('-'))
        .join(' ')
        .trim(),
    ),
  )
}

function helpOn(words: readonly string[]): string {
  const [noun = '', verb = '', third = ''] = words
  const three = COMMANDS.find((one) => one.words === `${noun} ${verb} ${third}`)
  if (three) return commandText(three)
  const command = COMMANDS.find((one) => one.words === `${noun} ${verb}`.trim())
  const siblings = COMMANDS.filter((one) => one.words.startsWith(`${noun} `))
  if (command && (verb !== '' || siblings.length === 0)) return commandText(command)
  if (command) return `${commandText(command)}\n${listText(siblings)}\n`
  if (siblings.length > 0 && verb === '') return `${listText(siblings)}\n`
  return fail(unknown(`${noun} ${verb}`.trim()))
}

/** Suggests a similar command, or lists the words that may follow the first one. */
function unknown(typed: string): string {
  const words = COMMANDS.map((command) => command.words)
  const verbs = words.filter((one) => one.startsWith(`${typed.split(' ')[0]} `)).map((one) => one.split(' ')[1])
  const meant = nearest(typed, words)
  if (meant !== undefined) return `unknown command "${typed}"; did you mean "${meant}"?`
  const hint =
    verbs.length > 0 ? `after "${typed.split(' ')[0]}" comes one of ${verbs.join(', ')}` : 'admin --help lists all'
  return `unknown command "${typed}"; ${hint}`
}

function readOptions(command: Command, args: string[]): { values: Values; isJson: boolean } {
  if (args.some((arg) => arg === '--password' || arg.startsWith('--password='))) {
    fail('a password is read from standard input, never from the command line, where everybody on this machine sees it')
  }
  const { operand } = command
  const { values, positionals, isJson } = parseStrictly(args, command.options)
  const [first, second] = positionals
  const unexpected = operand ? second : first
  if (unexpected !== undefined) fail(`${command.words} does not take "${unexpected}"`)
  const missing = Object.entries(command.options)
    .filter(([name, option]) => option.isRequired && values[name] === undefined)
    .map(([name]) => `--${name}`)
  if (operand?.isRequired && first === undefined) missing.unshift(operand.value)
  if (missing.length > 0) fail(`${command.words} needs ${missing.join(', ')}`)
  return { values: first === undefined ? values : { ...values, [OPERAND]: first }, isJson }
}

function parseStrictly(args: string[], known: Command['options']) {
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { value }]) => [
      name,
      { type: value === '' ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const words = joinNegatives(args.filter((arg) => arg !== JSON_OPTION))
  try {
    const { values, positionals } = parseArgs({ args: words, options, strict: true, allowPositionals: true })
    const given = Object.entries(values).filter(([, value]) => value !== undefined)
    const texts = given.map(([name, value]) => [name, typeof value === 'string' ? value : GIVEN])
    return { values: Object.fromEntries(texts) as Values, positionals, isJson: args.includes(JSON_OPTION) }
  } catch (error) {
    // The parser's message names only the option, never a value; its advice after the first sentence is removed.
    return fail((error instanceof Error ? error.message : String(error)).split(/\.\s|\n/)[0] ?? 'wrong arguments')
  }
}

const JSON_OPTION = '--json'

/** Joins `--usd -5`, which the parser would read as two options. */
function joinNegatives(args: readonly string[]): string[] {
  const joined: string[] = []
  for (const arg of args) {
    const previous = joined.at(-1)
    if (/^-\d/.test(arg) && previous?.startsWith('--') && !previous.includes('=')) {
      joined[joined.length - 1] = `${previous}=${arg}`
    } else joined.push(arg)
  }
  return joined
}
