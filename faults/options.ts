/** What the suite can be told on its command line. */

type Options = {
  /** Ids of the faults to run; undefined for all. */
  only: ReadonlySet<string> | undefined
  isQuick: boolean
  /** How often each fault is played, with other choices each time. */
  rounds: number
  seed: number
  isListing: boolean
  /** Leaves the data and the gateways' logs where they are. */
  isKeeping: boolean
}

const USAGE = `Usage: bun run faults [--only F5,F12] [--quick] [--rounds N] [--seed N] [--keep] [--list]

Starts stores, gateways and a scripted provider of its own, plays each fault, and checks I1 to I10 after each.
Exits with 1 where an invariant is broken or clients see anything but what is promised.`

const MAX_ROUNDS = 1_000
const MAX_SEED = 2 ** 31

/** Reads the arguments; a text is what to say instead of running. */
export function parseOptions(args: readonly string[]): Options | string {
  const options: Options = {
    only: undefined,
    isQuick: false,
    rounds: 1,
    seed: Math.floor(Math.random() * MAX_SEED),
    isListing: false,
    isKeeping: false,
  }
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = (args[index] ?? '').split('=', 2)
    const value = () => inline ?? args[++index] ?? ''
    switch (name) {
      case '--only':
        options.only = new Set(value().toUpperCase().split(','))
        break
      case '--seed':
        options.seed = Number(value())
        break
      case '--rounds':
        options.rounds = Number(value())
        break
      case '--quick':
        options.isQuick = true
        break
      case '--keep':
        options.isKeeping = true
        break
      case '--list':
        options.isListing = true
        break
      default:
        return USAGE
    }
  }
  const areRounds = Number.isSafeInteger(options.rounds) && options.rounds >= 1 && options.rounds <= MAX_ROUNDS
  return areRounds && Number.isSafeInteger(options.seed) ? options : USAGE
}
