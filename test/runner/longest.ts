/** Which test files start first: those that take the longest. One that starts late would run alone at the end, with the other processors idle. */

/** Files of both parts that take more than a minute on two busy processors, longest first. */
export const LONGEST: readonly string[] = [
  'test/money-model/thousands/thousands.test.ts',
  'test/whole-streams/many.test.ts',
  'test/clients/java/clients.test.ts',
  'test/dashboard/docs.test.ts',
  'test/console/orders/deposits/stripe-model.test.ts',
  'test/faults/quick.test.ts',
  'test/cli/docs.test.ts',
  'test/money-model/planted/planted.test.ts',
  'test/runner/leftovers.test.ts',
  'test/dashboard/widths.test.ts',
  'test/deploy/image.test.ts',
  'test/clients/older-majors.test.ts',
  'test/clients/python/clients.test.ts',
  'test/boot/first-minutes.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/boot/executable/executable.test.ts',
  'test/deploy/observability/prometheus.test.ts',
  'test/http/paid-ways.test.ts',
  'test/dashboard/pages/keyboard.test.ts',
  'test/console/orders/reversals/any-order.test.ts',
  'test/console/http/deposits/stripe.test.ts',
  'test/boot/start.test.ts',
  'test/money-model/money-model.test.ts',
  'test/http/sight-of-keys.test.ts',
  'test/console/administration/usage-archive/archived-books.test.ts',
  'test/dashboard/credit.test.ts',
  'test/dashboard/invitations.test.ts',
  'test/people/members/pages/key-rules.test.ts',
  'test/matrix/matrix.test.ts',
  'test/dashboard/sign-in.test.ts',
  'test/ledger/check/check.test.ts',
]

/**
 * What `bun test --timings` reads to start the slowest files first. It reads milliseconds, and keeps the order of files of equal time; if
 * a file has no entry, it ignores the others.
 */
export function startOrder(files: readonly string[]): string {
  const ranks = files.map((file) => [file, LONGEST.includes(file) ? LONGEST.length - LONGEST.indexOf(file) : 0])
  return JSON.stringify({ version: 1, files: Object.fromEntries(ranks) })
}
