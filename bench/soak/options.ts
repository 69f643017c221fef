/** What `bun run soak` can be told on its command line. */

type SoakOptions = {
  minutes: number
  ratePerSecond: number
  /** Writes the plot and its paragraph into docs/. */
  isPublishing: boolean
  /** Raw figures of an earlier run to report instead of running. */
  from: string | undefined
}

const USAGE = `Usage: bun run soak [--minutes 120] [--rate 25] [--publish] [--from soak.json]

  --minutes N   how long the load lasts
  --rate N      clients per second, and a burst of a hundred each minute
  --publish     write plot and paragraph into docs/
  --from FILE   report the raw figures of an earlier run instead of running`

const DEFAULTS: SoakOptions = { minutes: 120, ratePerSecond: 25, isPublishing: false, from: undefined }

/** Reads the arguments; a text is what to say instead of running. */
export function parseSoakOptions(args: readonly string[]): SoakOptions | string {
  const options = { ...DEFAULTS }
  for (let index = 0; index < args.length; index++) {
    const [name, inline] = (args[index] ?? '').split('=', 2)
    const value = () => inline ?? args[++index] ?? ''
    if (name === '--minutes') options.minutes = Number(value())
    else if (name === '--rate') options.ratePerSecond = Number(value())
    else if (name === '--publish') options.isPublishing = true
    else if (name === '--from') options.from = value()
    else return USAGE
  }
  return options.minutes > 0 && options.ratePerSecond > 0 ? options : USAGE
}
