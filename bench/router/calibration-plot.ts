/** Draws how often prompts of each difficulty were hard in truth, as an SVG with no script and nothing loaded from elsewhere. */
import type { Judged } from './measure'

const WIDTH = 640
const HEIGHT = 400
const LEFT = 64
const BOTTOM = 340
const SIDE = 280
const TENTHS = 10
/** Fewer prompts than this in a tenth say nothing. */
const LEAST_PROMPTS = 10

type Series = { name: string; colour: string; judged: readonly Judged[] }

/** One line for each series over the tenths of difficulty, and the diagonal on which a perfect scorer would lie. */
export function calibrationPlot(title: string, series: readonly Series[]): string {
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1].map(
    (tick) => `<text x="${xOf(tick)}" y="${BOTTOM + 18}" text-anchor="middle">${tick}</text>
<text x="${LEFT - 8}" y="${yOf(tick) + 4}" text-anchor="end">${tick}</text>
<path d="M${LEFT} ${yOf(tick)}H${LEFT + SIDE}" stroke="#ddd"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img" aria-label="${title}">
<title>${title}</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="28" font-size="14" font-weight="bold">${title}</text>
${ticks.join('\n')}
<path d="M${xOf(0)} ${yOf(0)}L${xOf(1)} ${yOf(1)}" stroke="#999" stroke-dasharray="4 4"/>
<text x="${LEFT + SIDE / 2}" y="${BOTTOM + 40}" text-anchor="middle">difficulty that the scorer gave</text>
<text transform="translate(20 ${yOf(0.5)}) rotate(-90)" text-anchor="middle">share that was hard</text>
${series.map(drawSeries).join('\n')}
</svg>
`
}

function drawSeries({ name, colour, judged }: Series, index: number): string {
  const points = tenthsOf(judged)
  const line = points.map(({ score, share }, at) => `${at === 0 ? 'M' : 'L'}${xOf(score)} ${yOf(share)}`).join('')
  const dots = points.map(
    ({ score, share, count }) =>
      `<circle cx="${xOf(score)}" cy="${yOf(share)}" r="${(2 + Math.sqrt(count) / 4).toFixed(1)}" fill="${colour}" fill-opacity="0.6"/>`,
  )
  const y = 80 + index * 24
  return `<path d="${line}" fill="none" stroke="${colour}" stroke-width="2"/>
${dots.join('\n')}
<rect x="${LEFT + SIDE + 28}" y="${y - 9}" width="10" height="10" fill="${colour}"/>
<text x="${LEFT + SIDE + 44}" y="${y}">${name} (${judged.length})</text>`
}

function tenthsOf(judged: readonly Judged[]): { score: number; share: number; count: number }[] {
  return Array.from({ length: TENTHS }, (_, tenth) =>
    judged.filter(({ score }) => Math.min(TENTHS - 1, Math.floor(score * TENTHS)) === tenth),
  )
    .filter((those) => those.length >= LEAST_PROMPTS)
    .map((those) => ({
      score: those.reduce((sum, { score }) => sum + score, 0) / those.length,
      share: those.filter(({ isHard }) => isHard).length / those.length,
      count: those.length,
    }))
}

function xOf(value: number): number {
  return Math.round((LEFT + value * SIDE) * 10) / 10
}

function yOf(value: number): number {
  return Math.round((BOTTOM - value * SIDE) * 10) / 10
}
