import { EmbeddedServerError } from '@/boot/embedded/error'
import { GatewayError } from '@/chat/error'
import { describeFailure } from '@/db/failure'
import { createRedactor } from '@/lib/redact'
import { CommandFailure } from './failure'
import { parseCommand } from './parse-command'
import { formatForPeople } from './print/for-people'
import { type Surroundings, withServices } from './services'

/** The exit code if the command ran, and refused or found a problem. */
const REFUSED = 1
/** The exit code if the command could not start or finish. */
const NOT_DONE = 2

/** Runs the command of `args` and resolves to its exit code. Prints for people or JSON; failures are one line, never thrown. */
export async function runCommandLine(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const progress = { hasBegun: false }
  try {
    return await run(args, surroundings, progress)
  } catch (error) {
    surroundings.tell(createRedactor()(explain(error)))
    return progress.hasBegun && error instanceof CommandFailure ? REFUSED : NOT_DONE
  }
}

async function run(
  args: readonly string[],
  surroundings: Surroundings,
  progress: { hasBegun: boolean },
): Promise<number> {
  const parsed = await parseCommand(args, surroundings)
  if (parsed.kind === 'help') {
    await surroundings.answer(parsed.text)
    return 0
  }
  const { environment, columns } = surroundings
  const begin = <Taken, Result>(work: (taken: Taken) => Result) => {
    return (taken: Taken) => {
      progress.hasBegun = true
      return work(taken)
    }
  }
  const {
    output,
    text,
    exitCode = 0,
    notes = [],
  } = await (parsed.kind === 'alone'
    ? begin(parsed.run)(environment)
    : ((await parsed.checkFirst(environment)) ?? withServices(surroundings, parsed, begin(parsed.run))))
  for (const note of notes) surroundings.tell(note)
  const isForPeople = columns !== undefined && !parsed.isJson
  const printed = isForPeople ? formatForPeople(output, columns) : `${JSON.stringify(output)}\n`
  await surroundings.answer(text ?? printed)
  return exitCode
}

function explain(error: unknown): string {
  if (error instanceof CommandFailure || error instanceof EmbeddedServerError) return error.message
  if (error instanceof GatewayError && error.options.cause !== undefined) return describeFailure(error.options.cause)
  return describeFailure(error)
}
