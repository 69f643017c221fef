/**
 * Reads a password where nobody else sees it: from standard input, never from the command line, which every user of the
 * machine may look at and shells keep.
 */
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from '@/accounts/passwords'
import { processEnvironment } from '@/config/config'
import { isWeakPassword } from '@/lib/weak-password'
import { fail } from './failure'

/** The first line of standard input. Throws a CommandFailure for one that is too short or long, or weak in production. */
export async function readPassword(known: readonly string[]): Promise<string> {
  const password = process.stdin.isTTY ? await askAtTerminal() : firstLine(await Bun.stdin.text())
  if (password === '') return fail('a password is expected on standard input, e.g. from: read -rs P; echo "$P" | …')
  if (password.length < PASSWORD_MIN_CHARS || password.length > PASSWORD_MAX_CHARS) {
    return fail(`the password on standard input must have ${PASSWORD_MIN_CHARS} to ${PASSWORD_MAX_CHARS} characters`)
  }
  if (processEnvironment().NODE_ENV === 'production' && isWeakPassword(password, known)) {
    return fail('the password is among the first guesses of everybody; production refuses it')
  }
  return password
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? ''
}

const [INTERRUPT, END, DELETE, BACKSPACE] = ['\u0003', '\u0004', '\u007f', '\b']

/** Shows nothing of what is typed. */
async function askAtTerminal(): Promise<string> {
  // Asked only once the terminal shows nothing: somebody may type at once.
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
