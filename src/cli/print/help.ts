/** Help texts: all commands, those with the same first word, or one with options, example and exit codes. */
import type { Command } from '@/cli/command'

const PROGRAM = 'bun run admin'

const EXIT_CODES = [
  'Exit code 0: done. 1: refused, or a problem was found. 2: not done: wrong arguments or settings, or a store is away.',
]

/** All commands, grouped by their first word. */
export function helpText(commands: readonly Command[]): string {
  const nouns = [...new Set(commands.map(nounOf))]
  const groups = nouns.map((noun) => listText(commands.filter((command) => nounOf(command) === noun)))
  return [
    `Usage: ${PROGRAM} COMMAND [OPTIONS]     (in the container: svc admin COMMAND [OPTIONS])`,
    '',
    'Acts on the stores of a gateway (REDIS_URL, DATABASE_URL or DATA_DIR as the gateway has them), at once.',
    'A terminal gets tables; a pipe, or --json, gets JSON in one line. Errors are on standard error.',
    ...EXIT_CODES,
    `${PROGRAM} COMMAND --help says more of one command.`,
    '',
    groups.join('\n\n'),
    '',
  ].join('\n')
}

/** The commands with the same first word. */
export function listText(commands: readonly Command[]): string {
  return commands.map((command) => `  ${usageOf(command)}\n      ${command.help}`).join('\n')
}

/** One command in full. */
export function commandText(command: Command): string {
  const { operand, options, help } = command
  const entries = [
    ...(operand ? [[operand.value, operand.help] as const] : []),
    ...Object.entries(options).map(([name, { value, help }]) => [`--${name} ${value}`.trim(), help] as const),
    ['--json', 'JSON, also at a terminal'] as const,
  ]
  const width = Math.max(...entries.map(([words]) => words.length))
  return [
    `Usage: ${PROGRAM} ${usageOf(command)}`,
    '',
    `${help[0]?.toUpperCase() ?? ''}${help.slice(1)}.`,
    '',
    ...entries.map(([words, text]) => `  ${words.padEnd(width)}  ${text}`),
    '',
    ...EXIT_CODES,
    '',
  ].join('\n')
}

function nounOf({ words }: Command): string {
  return words.split(' ')[0] ?? ''
}

function usageOf({ words, operand, options }: Command): string {
  const parts = Object.entries(options).map(([name, { value, isRequired }]) =>
    isRequired ? `--${name} ${value}` : `[${`--${name} ${value}`.trim()}]`,
  )
  const place = operand && (operand.isRequired ? operand.value : `[${operand.value}]`)
  return [words, ...(place ? [place] : []), ...parts].join(' ')
}
