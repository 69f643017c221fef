/** The comparison in one short table, for those who only want to know how it stands beside others. */
import { machineLine, number } from './markdown'
import { type FigureName, type Results, seriesOf } from './results'
import { spreadOf } from './statistics'

type Column = { title: string; scenario: string; figure: FigureName }

const COLUMNS: readonly Column[] = [
  { title: 'requests/s', scenario: 'json-64', figure: 'requestsPerSecond' },
  { title: 'CPU µs per request', scenario: 'json-64', figure: 'cpuMicroseconds' },
  { title: 'one connection, p50 ms', scenario: 'json-1', figure: 'p50Ms' },
  { title: 'CPU µs per piece of a stream', scenario: 'streams-64', figure: 'cpuMicroseconds' },
  { title: 'first token, p50 ms', scenario: 'streams-64', figure: 'firstTokenP50Ms' },
  { title: 'CPU µs, 100 KB prompt', scenario: 'prompt-100k', figure: 'cpuMicroseconds' },
]

/** Medians of all rounds, one row for each server that took part. */
export function summaryOf(results: Results): string {
  const rows = results.peers
    .filter(({ absent }) => absent === undefined)
    .map(({ name }) => {
      const cells = COLUMNS.map(({ scenario, figure }) => {
        const spread = spreadOf(seriesOf(results.rows, scenario, name, figure) ?? [])
        return spread ? number(spread.median) : '–'
      })
      return `| ${name} | ${cells.join(' | ')} |`
    })
  const absent = results.peers.flatMap(({ name, absent: why }) => (why === undefined ? [] : [name]))
  return [
    `| server | ${COLUMNS.map(({ title }) => title).join(' | ')} |\n|---|${'---:|'.repeat(COLUMNS.length)}\n${rows.join('\n')}`,
    `${machineLine(results)}${absent.length === 0 ? '' : ` Took no part: ${absent.join(', ')}.`}`,
  ].join('\n\n')
}
