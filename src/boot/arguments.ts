import { version } from '#package.json'

const HELP = `svc-gateway ${version}: a prepaid LLM gateway.

Usage: svc-gateway                start the gateway (from a clone: bun run start)
       svc-gateway admin …        operator commands; svc-gateway admin --help lists them
       svc-gateway --help         this text
       svc-gateway --version      the version

Settings are environment variables: .env.example and docs/operations/running.md list them. Without REDIS_URL and DATABASE_URL the gateway
starts its own servers, with their data in DATA_DIR (.data). Without a provider key it answers from a sandbox.
`

/** Answers the arguments for help and version with text and exit code. Undefined without arguments: the gateway starts. */
export function answerArguments(args: readonly string[]): { text: string; exitCode: number } | undefined {
  const [first] = args
  if (first === undefined) return undefined
  if (first === '--help' || first === '-h') return { text: HELP, exitCode: 0 }
  if (first === '--version' || first === '-v') return { text: `${version}\n`, exitCode: 0 }
  return { text: `svc-gateway: unknown argument "${first}"; --help says what there is\n`, exitCode: 2 }
}
