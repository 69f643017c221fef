/**
 * What belongs to `bun run judges`, in one list: tests that judge slowly, at random, or with programs that a bare machine lacks.
 * Any other test file is run by `bun run test`. A new judge is a line here; `bun test <its path>` runs it alone.
 */
import type { Program } from '@test/support/debian'

/** A program that a machine may lack. */
export type Need = Program | 'chromium' | 'python' | 'java' | 'go'

/** A folder or a file of test/, and why `bun run test` doesn't wait for it. `needs` says what it drives where its code says too much or too little. */
type Judge = { path: string; why: string; needs?: readonly Need[] }

/** The judges. No path lies in another. */
export const JUDGES: readonly Judge[] = [
  { path: 'test/accounts/mails/killed-gateway.test.ts', why: 'gateways that are killed, as processes' },
  { path: 'test/accounts/mails/parsed.test.ts', why: 'mails by another language’s parser', needs: ['python'] },
  { path: 'test/batches/kills.test.ts', why: 'gateways that are killed, as processes' },
  { path: 'test/boot/executable', why: 'builds the single executable and starts it' },
  { path: 'test/boot/first-minutes.test.ts', why: 'starts gateways the way newcomers do, Postgres and all' },
  { path: 'test/boot/leave.test.ts', why: 'gateways that leave under load, with real delays' },
  { path: 'test/boot/processes/metrics.test.ts', why: 'several processes, judged by promtool' },
  { path: 'test/cli/docs.test.ts', why: 'every command of the documents as a process' },
  { path: 'test/cli/dropped-month.test.ts', why: 'needs the programs of Postgres for a backup' },
  { path: 'test/cli/terminal.test.ts', why: 'commands at real terminals' },
  { path: 'test/catalog/media/pypdf.test.ts', why: 'what a real reader makes of PDFs, in Python' },
  { path: 'test/clients/java', why: 'the Java libraries against a gateway' },
  { path: 'test/clients/older-majors.test.ts', why: 'older majors of the client libraries' },
  { path: 'test/clients/python', why: 'the Python libraries against a gateway' },
  {
    path: 'test/console/administration/statements/camt/peer.test.ts',
    why: 'bank statements by their official schemas, in Python',
  },
  {
    path: 'test/console/orders/deposits/stripe-mock.test.ts',
    why: 'requests to Stripe by Stripe’s own mock, which Go builds',
  },
  {
    path: 'test/console/orders/deposits/stripe-model.test.ts',
    why: 'plays Stripe’s events in every order, and processes that die',
  },
  { path: 'test/dashboard/docs.test.ts', why: 'what pages look like, and whether they are accessible' },
  { path: 'test/dashboard/snippets.test.ts', why: 'runs the code that the dashboard gives to customers' },
  { path: 'test/dashboard/widths.test.ts', why: 'every page at every width and scheme, and whether it is accessible' },
  { path: 'test/deploy/compose-schema.test.ts', why: 'compose files by the specification of Compose' },
  { path: 'test/deploy/compose.test.ts', why: 'a gateway started as compose.yaml does' },
  { path: 'test/deploy/documents', why: 'every command of the documents, as it stands there', needs: ['curl'] },
  { path: 'test/deploy/image.test.ts', why: 'builds the image and starts it' },
  { path: 'test/deploy/kubernetes', why: 'manifests by the schemas of Kubernetes' },
  { path: 'test/deploy/machines', why: 'the guide to three machines, followed' },
  { path: 'test/deploy/nginx.test.ts', why: 'a gateway behind a real nginx' },
  { path: 'test/deploy/observability', why: 'alerts and dashboards by a real Prometheus' },
  { path: 'test/deploy/proxy.test.ts', why: 'a gateway behind a real proxy' },
  { path: 'test/deploy/redis-cluster.test.ts', why: 'makes a Redis Cluster' },
  { path: 'test/dialects/aws/botocore.test.ts', why: 'signatures beside those of AWS’ own Python library' },
  { path: 'test/dialects/stranger.test.ts', why: 'follows the pages on clouds, each command a process' },
  { path: 'test/faults', why: 'kills and hangs, at random moments', needs: [] },
  { path: 'test/fuzz', why: 'generated attacks' },
  { path: 'test/http/guide/deploy.test.ts', why: 'runs what the guide says' },
  { path: 'test/http/guide/snippets.test.ts', why: 'runs every example of the guide in its language' },
  { path: 'test/metrics/promtool.test.ts', why: 'metrics judged by promtool' },
  { path: 'test/money-model/planted', why: 'plays hundreds of sequences against each planted bug' },
  { path: 'test/money-model/thousands', why: 'plays thousands of sequences of everything that moves money' },
  { path: 'test/runner/leftovers.test.ts', why: 'kills runs of tests that have everything open' },
  { path: 'test/supply-chain', why: 'every package that is installed' },
  { path: 'test/whole-streams/many.test.ts', why: 'a thousand random streams' },
]

/** Whether the file at `path`, which counts from the project's root, is one of them. */
export function judgeOf(path: string): Judge | undefined {
  return JUDGES.find((judge) => path === judge.path || path.startsWith(`${judge.path}/`))
}
