/** Draws one figure of all peers as bars in SVG: the middle of the rounds, and a line from the least to the most. */
import { number } from './markdown'
import { type FigureName, type Results, seriesOf } from './results'
import { type Spread, spreadOf } from './statistics'

type Plot = { file: string; title: string; scenario: string; figure: FigureName; unit: string }

/** What the docs show. Peers differ by powers of ten, so all axes are logarithmic. */
export const PLOTS: readonly Plot[] = [
  {
    file: 'cpu-per-request.svg',
    title: 'CPU per JSON request, 1 KB, 64 connections',
    scenario: 'json-64',
    figure: 'cpuMicroseconds',
    unit: 'µs',
  },
  {
    file: 'requests-per-second.svg',
    title: 'JSON requests per second, 64 connections',
    scenario: 'json-64',
    figure: 'requestsPerSecond',
    unit: '/s',
  },
  {
    file: 'one-connection.svg',
    title: 'One connection, median time of a request',
    scenario: 'json-1',
    figure: 'p50Ms',
    unit: 'ms',
  },
  {
    file: 'open-loop.svg',
    title: '500 requests/s, 99th percentile',
    scenario: 'open-500',
    figure: 'p99Ms',
    unit: 'ms',
  },
  {
    file: 'cpu-per-piece.svg',
    title: 'CPU per piece of a stream, 64 streams',
    scenario: 'streams-64',
    figure: 'cpuMicroseconds',
    unit: 'µs',
  },
  {
    file: 'first-token.svg',
    title: 'Median time to the first token, 64 streams',
    scenario: 'streams-64',
    figure: 'firstTokenP50Ms',
    unit: 'ms',
  },
]

const WIDTH = 760
const NAME_WIDTH = 130
const VALUE_WIDTH = 110
const ROW_HEIGHT = 28
const HEAD_HEIGHT = 40
const BAR_HEIGHT = 16
const OURS_COLOUR = '#2f6fde'
const OTHERS_COLOUR = '#9aa5b4'

type Bar = { name: string; spread: Spread }

/** The text of one plot; undefined where fewer than two peers have the figure. */
export function drawPlot(results: Results, plot: Plot): string | undefined {
  const bars = results.peers.flatMap(({ name }): Bar[] => {
    const spread = spreadOf(seriesOf(results.rows, plot.scenario, name, plot.figure) ?? [])
    return spread && spread.low > 0 ? [{ name, spread }] : []
  })
  if (bars.length < 2) return undefined
  const place = logScale(bars)
  const height = HEAD_HEIGHT + bars.length * ROW_HEIGHT
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="sans-serif" font-size="13">`,
    `<title>${escapeText(plot.title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="10" y="24" font-size="15" font-weight="bold">${escapeText(plot.title)}, ${plot.unit} (logarithmic)</text>`,
    ...bars.map((bar, index) => drawBar(bar, HEAD_HEIGHT + index * ROW_HEIGHT, place, plot.unit)),
    '</svg>\n',
  ].join('\n')
}

/** From a value to its place on a logarithmic axis that begins at half of the least. */
function logScale(bars: readonly Bar[]): (value: number) => number {
  const least = Math.log(Math.min(...bars.map(({ spread }) => spread.low)) / 2)
  const most = Math.log(Math.max(...bars.map(({ spread }) => spread.high)))
  const room = WIDTH - NAME_WIDTH - VALUE_WIDTH
  return (value) => NAME_WIDTH + ((Math.log(value) - least) / Math.max(most - least, Number.EPSILON)) * room
}

function drawBar({ name, spread }: Bar, top: number, place: (value: number) => number, unit: string): string {
  const end = place(spread.median)
  const middle = top + BAR_HEIGHT / 2
  const colour = name.startsWith('svc-gateway') ? OURS_COLOUR : OTHERS_COLOUR
  const [low, high] = [place(spread.low), place(spread.high)]
  return [
    `<text x="${NAME_WIDTH - 8}" y="${middle + 5}" text-anchor="end">${escapeText(name)}</text>`,
    `<rect x="${NAME_WIDTH}" y="${top}" width="${fixed(end - NAME_WIDTH)}" height="${BAR_HEIGHT}" fill="${colour}"/>`,
    `<line x1="${fixed(low)}" y1="${middle}" x2="${fixed(high)}" y2="${middle}" stroke="#222222" stroke-width="1.5"/>`,
    `<text x="${fixed(Math.max(end, high) + 8)}" y="${middle + 5}">${number(spread.median)} ${unit}</text>`,
  ].join('\n')
}

function fixed(value: number): string {
  return value.toFixed(1)
}

/** Text as it may stand in SVG. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
