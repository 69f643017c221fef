/** What `bun run bench` can be told on its command line. */
import type { Mode } from './report/scenario-names'

export type Options = {
  mode: Mode
  /** Processor time of the stages of one request instead of a comparison. */
  isStages: boolean
  /** Compares with the committed ratios, and with the budget of the stages. */
  isChecking: boolean
  /** Writes the ratios of this run as those to compare with. */
  isBaseline: boolean
  /** Writes the figures and plots into docs/. */
  isPublishing: boolean
  /** Another checkout of this project, whose gateway takes part as well. */
  against: string | undefined
  /** Undefined: as many as the mode has. */
  rounds: number | undefined
  /** Names of the scenarios and peers to run; undefined for all. */
  only: ReadonlySet<string> | undefined
  peers: ReadonlySet<string> | undefined
}

/** Said where an argument is not understood. */
const USAGE = `Usage: bun run bench [--quick | --full] [--rounds N] [--only json-64,streams-64] [--peers nginx,svc-gateway]
                     [--check] [--baseline] [--publish]
       bun run bench --against FOLDER [--only json-64,streams-64]
       bun run bench --stages [--check]

  --quick     the default: the main scenarios in short windows, about two minutes; not for quoting
  --full      every scenario and server in windows of four seconds, about three quarters of an hour
  --against   this checkout and another in turn, in windows of four seconds: ratios, and processor time by thread
  --stages    where the processor time of one request goes, inside one process
  --check     the scenarios and servers of the ratios in windows of four seconds, ten minutes; exits with 1 if a ratio is
              worse than the committed one; with --stages: if a stage exceeds its budget
  --baseline  measures as --check does (or --full), and writes the ratios to bench/baseline.json
  --publish   write the tables and plots into docs/`

/** Reads the arguments; a text is what to say instead of running. */
export function parseOptions(args: readonly string[]): Options | string {
  const options: Options = {
    ...{ mode: 'quick', isStages: false, isChecking: false, isBaseline: false, isPublishing: false },
    ...{ against: undefined, rounds: undefined, only: undefined, peers: undefined },
  }
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = (args[index] ?? '').split('=', 2)
    const value = () => inline ?? args[++index] ?? ''
    switch (name) {
      case '--quick':
        options.mode = 'quick'
        break
      case '--full':
        options.mode = 'full'
        break
      case '--stages':
        options.isStages = true
        break
      case '--check':
        options.isChecking = true
        break
      case '--baseline':
        options.isBaseline = true
        break
      case '--publish':
        options.isPublishing = true
        break
      case '--against':
        options.against = value()
        break
      case '--rounds':
        options.rounds = Number(value())
        break
      case '--only':
        options.only = new Set(value().split(','))
        break
      case '--peers':
        options.peers = new Set(value().split(','))
        break
      default:
        return USAGE
    }
  }
  const isForRatios = options.isChecking || options.isBaseline || options.against !== undefined
  if (options.mode === 'quick' && isForRatios) options.mode = 'guard'
  const { rounds } = options
  return rounds === undefined || (Number.isSafeInteger(rounds) && rounds > 0) ? options : USAGE
}
