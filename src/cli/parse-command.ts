/** From the words on the command line to the command they mean, and the help that lists them all. */
import { parseArgs } from 'node:util'
import { ACCOUNT_COMMANDS } from './account-commands'
import type { Command, CommandResult, Values } from './command'
import { fail } from './failure'
import { KEY_COMMANDS } from './key-commands'
import { LEDGER_COMMANDS } from './ledger-commands'
import type { Services } from './services'
import { USAGE_COMMANDS } from './usage-commands'
import { USER_COMMANDS } from './user-commands'

const COMMANDS: readonly Command[] = [
  ...ACCOUNT_COMMANDS,
  ...KEY_COMMANDS,
  ...LEDGER_COMMANDS,
  ...USAGE_COMMANDS,
  ...USER_COMMANDS,
]

/** `work` needs the stores; `help` is only printed. */
type Parsed = { kind: 'help'; text: string } | { kind: 'work'; run(services: Services): Promise<CommandResult> }

/** Understands `args` (without the program's name). Throws a CommandFailure that says what is wrong. */
export async function parseCommand(args: readonly string[]): Promise<Parsed> {
  const [noun = 'help', verb = '', ...rest] = args
  if (['help', '--help', '-h'].includes(noun)) return { kind: 'help', text: helpText() }
  const command = COMMANDS.find(({ words }) => words === `${noun} ${verb}`)
  if (!command) {
    return fail(`unknown command "${[noun, verb].join(' ').trim()}"; run admin without arguments to see all of them`)
  }
  if (rest.includes('--help') || rest.includes('-h')) return { kind: 'help', text: `${usageOf(command)}\n` }
  return { kind: 'work', run: await command.prepare(readOptions(command, rest)) }
}

function readOptions(command: Command, args: string[]): Values {
  if (args.some((arg) => arg === '--password' || arg.startsWith('--password='))) {
    fail('a password is read from standard input, never from the command line, where everybody on this machine sees it')
  }
  const options = Object.fromEntries(Object.keys(command.options).map((name) => [name, { type: 'string' as const }]))
  const values = parseStrictly(args, options)
  const missing = Object.entries(command.options)
    .filter(([name, option]) => option.isRequired && values[name] === undefined)
    .map(([name]) => `--${name}`)
  if (missing.length > 0) fail(`${command.words} needs ${missing.join(', ')}`)
  return values
}

function parseStrictly(args: string[], options: Record<string, { type: 'string' }>): Record<string, string> {
  try {
    const { values } = parseArgs({ args: joinNegatives(args), options, strict: true, allowPositionals: false })
    return Object.fromEntries(
      Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
    )
  } catch (error) {
    // The parser's own messages name the option, never another option's value; its advice is cut off.
    return fail((error instanceof Error ? error.message : String(error)).split(/\.\s|\n/)[0] ?? 'wrong arguments')
  }
}

/** `--usd -5` means minus five; the parser would take it for an option. */
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

function helpText(): string {
  const lines = COMMANDS.map((command) => `  ${usageOf(command).replaceAll('\n', '\n  ')}`)
  return [
    'Usage: bun run admin COMMAND [OPTIONS]',
    '',
    'Acts on the stores of a gateway (REDIS_URL, DATABASE_URL or DATA_DIR as the gateway has them), at once.',
    'Prints JSON on stdout and errors on stderr.',
    '',
    ...lines,
    '',
  ].join('\n')
}

function usageOf({ words, help, options }: Command): string {
  const parts = Object.entries(options).map(([name, { value, isRequired }]) =>
    isRequired ? `--${name} ${value}` : `[--${name} ${value}]`,
  )
  return `${[words, ...parts].join(' ')}\n    ${help}`
}
