/** The entry of `bun run admin …`: JSON on stdout, one clear line on stderr where it fails, and an exit code. */

import { EmbeddedServerError } from '@/boot/embedded/error'
import { GatewayError } from '@/chat/error'
import { processEnvironment } from '@/config/config'
import { describeFailure } from '@/db/failure'
import { createRedactor } from '@/lib/redact'
import { CommandFailure } from './failure'
import { parseCommand } from './parse-command'
import { withServices } from './services'

async function main(args: readonly string[]): Promise<number> {
  const parsed = await parseCommand(args)
  if (parsed.kind === 'help') {
    await Bun.write(Bun.stdout, parsed.text)
    return 0
  }
  const { output, exitCode = 0 } = await withServices(processEnvironment(), parsed.run)
  // Resolves when the reader has it: a long list of violations must not be cut off by the exit.
  await Bun.write(Bun.stdout, `${JSON.stringify(output)}\n`)
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
  process.exit(1)
}
