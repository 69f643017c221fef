/** Entry point of `bun run admin …`: runs one command with this process's arguments, environment and input. */
import { processEnvironment } from '@/config/config'
import { fail } from './failure'
import { runCommandLine } from './run-command-line'
import type { Surroundings } from './services'

const [INTERRUPT, END, DELETE, BACKSPACE] = ['\u0003', '\u0004', '\u007f', '\b']

function processSurroundings(): Surroundings {
  const { isTTY, columns } = process.stdout
  return {
    environment: processEnvironment(),
    columns: isTTY ? columns : undefined,
    readSecret: async () => (process.stdin.isTTY ? askAtTerminal() : Bun.stdin.text()),
    answer: (text) => Bun.write(Bun.stdout, text),
    tell: (line) => process.stderr.write(`${line}\n`),
  }
}

/** Reads a line from the terminal without showing it. */
async function askAtTerminal(): Promise<string> {
  // Prompts only after echo is off, since the operator may type at once.
  process.stdin.setRawMode(true)
  process.stderr.write('Password: ')
  const typed: string[] = []
  try {
    for await (const chunk of process.stdin) {
      for (const character of String(chunk)) {
        if (character === INTERRUPT) return fail('interrupted')
        if (character === '\r' || character === '\n' || character === END) return typed.join('')
        if (character === DELETE || character === BACKSPACE) typed.pop()
        else typed.push(character)
      }
    }
    return typed.join('')
  } finally {
    process.stdin.setRawMode(false)
    process.stdin.pause()
    process.stderr.write('\n')
  }
}

process.exit(await runCommandLine(process.argv.slice(2), processSurroundings()))
