/** Draws the hours of a soak in SVG: one panel over the other, each a line over the minutes. */
import { number } from '@bench/report/markdown'
import { escapeText } from '@bench/report/plot'
import type { SoakResults } from './results'
import type { Sample } from './sample'

type Panel = { title: string; unit: string; read(sample: Sample): number }

const MEGABYTE = 1e6

const PANELS: readonly Panel[] = [
  { title: 'memory of the gateway', unit: 'MB', read: ({ residentBytes }) => residentBytes / MEGABYTE },
  { title: 'of that, heap', unit: 'MB', read: ({ heapBytes }) => heapBytes / MEGABYTE },
  { title: 'descriptors of the gateway', unit: '', read: ({ descriptors }) => descriptors },
  { title: 'open streams', unit: '', read: ({ openStreams }) => openStreams },
  { title: 'lag of the event loop, 99 of 100 below', unit: 'ms', read: ({ lagP99Ms }) => lagP99Ms },
  { title: 'memory of Redis', unit: 'MB', read: ({ redisBytes }) => redisBytes / MEGABYTE },
]

const WIDTH = 760
const LEFT = 60
const RIGHT = 90
const PANEL_HEIGHT = 92
const HEAD_HEIGHT = 40
const TITLE_HEIGHT = 20
const LINE_COLOUR = '#2f6fde'
const SECONDS_PER_MINUTE = 60

/** The text of the plot. */
export function drawSoak({ samples, minutes, at }: SoakResults): string {
  const height = HEAD_HEIGHT + PANELS.length * PANEL_HEIGHT
  const title = `${minutes} minutes under load, ${at.slice(0, 10)}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="sans-serif" font-size="12">`,
    `<title>${escapeText(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="10" y="24" font-size="15" font-weight="bold">${escapeText(title)}</text>`,
    ...PANELS.map((panel, index) => drawPanel(panel, samples, HEAD_HEIGHT + index * PANEL_HEIGHT)),
    '</svg>\n',
  ].join('\n')
}

/** All axes begin at nothing, so that flat looks flat. */
function drawPanel({ title, unit, read }: Panel, samples: readonly Sample[], top: number): string {
  const values = samples.map(read)
  const known = values.filter((value) => Number.isFinite(value))
  const most = Math.max(...known, Number.EPSILON)
  const [first, bottom] = [top + TITLE_HEIGHT, top + PANEL_HEIGHT - 12]
  const lastSecond = Math.max(1, samples.at(-1)?.seconds ?? 1)
  const place = (sample: Sample, value: number) => {
    const x = LEFT + (sample.seconds / lastSecond) * (WIDTH - LEFT - RIGHT)
    return `${x.toFixed(1)},${(bottom - (value / most) * (bottom - first)).toFixed(1)}`
  }
  const points = samples.flatMap((sample, index) => {
    const value = values[index] ?? Number.NaN
    return Number.isFinite(value) ? [place(sample, value)] : []
  })
  return [
    `<text x="${LEFT}" y="${top + 12}">${escapeText(title)}${unit === '' ? '' : `, ${unit}`}</text>`,
    `<line x1="${LEFT}" y1="${bottom}" x2="${WIDTH - RIGHT}" y2="${bottom}" stroke="#9aa5b4"/>`,
    `<text x="${LEFT - 6}" y="${first + 8}" text-anchor="end">${number(most)}</text>`,
    `<text x="${LEFT - 6}" y="${bottom}" text-anchor="end">0</text>`,
    `<text x="${WIDTH - RIGHT + 6}" y="${bottom}">${number(lastSecond / SECONDS_PER_MINUTE)} min</text>`,
    `<polyline fill="none" stroke="${LINE_COLOUR}" stroke-width="1.2" points="${points.join(' ')}"/>`,
  ].join('\n')
}
