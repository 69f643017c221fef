/** The entry of `bun run admin …`: tables for people, JSON for programs, one clear line on stderr where it fails, and an exit code. */

import { EmbeddedServerError } from '@/boot/embedded/error'
import { GatewayError } from '@/chat/error'
import { processEnvironment } from '@/config/config'
import { describeFailure } from '@/db/failure'
import { createRedactor } from '@/lib/redact'
import { CommandFailure } from './failure'
import { parseCommand } from './parse-command'
import { formatForPeople } from './print/for-people'
import { withServices } from './services'

/** The work was done and its answer is no: something was refused, or found to be wrong. */
const REFUSED = 1
/** The work could not be begun, or not be finished. */
const NOT_DONE = 2

let hasBegun = false

async function main(args: readonly string[]): Promise<number> {
  const parsed = await parseCommand(args)
  if (parsed.kind === 'help') {
    await Bun.write(Bun.stdout, parsed.text)
    return 0
  }
  const environment = processEnvironment()
  const begin = <Taken, Result>(work: (taken: Taken) => Result) => {
    return (taken: Taken) => {
      hasBegun = true
      return work(taken)
    }
  }
  const { output, exitCode = 0 } = await (parsed.kind === 'alone'
    ? begin(parsed.run)(environment)
    : ((await parsed.checkFirst(environment)) ?? withServices(environment, parsed, begin(parsed.run))))
  const { isTTY, columns } = process.stdout
  const text = isTTY && !parsed.isJson ? formatForPeople(output, columns) : `${JSON.stringify(output)}\n`
  // Resolves when the reader has it: a long list of violations must not be cut off by the exit.
  await Bun.write(Bun.stdout, text)
  return exitCode
}

function explain(error: unknown): string {
  if (error instanceof CommandFailure || error instanceof EmbeddedServerError) return error.message
  if (error instanceof GatewayError && error.options.cause !== undefined) return describeFailure(error.options.cause)
  return describeFailure(error)
}

try {
  process.exit(await main(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`${createRedactor()(explain(error))}\n`)
  process.exit(hasBegun && error instanceof CommandFailure ? REFUSED : NOT_DONE)
}
