/** Puts the tables and plots of a run into the docs, between two marks: a figure there was printed by the command or it isn't there. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { drawPlot, PLOTS } from './plot'
import type { Results } from './results'
import { summaryOf } from './summary'

const IMAGES = 'images/bench'

/** Writes the page, its plots, the short table of README.md and the raw figures below `root`. */
export async function publish(results: Results, markdown: string, root: string): Promise<void> {
  const page = join(root, 'docs', 'PERFORMANCE.md')
  const images = join(root, 'docs', IMAGES)
  await mkdir(images, { recursive: true })
  const links: string[] = []
  for (const plot of PLOTS) {
    const drawing = drawPlot(results, plot)
    if (drawing === undefined) continue
    await Bun.write(join(images, plot.file), drawing)
    links.push(`![${plot.title}](${IMAGES}/${plot.file})`)
  }
  await Bun.write(page, between(await Bun.file(page).text(), 'bench', `${links.join('\n')}\n\n${markdown}`))
  const readme = join(root, 'README.md')
  await Bun.write(readme, between(await Bun.file(readme).text(), 'bench', summaryOf(results)))
  await Bun.write(join(root, 'bench', 'results', 'bench.json'), `${JSON.stringify(results, null, 1)}\n`)
}

/** The page with `content` between the marks of `name`. Throws where it has none. */
export function between(page: string, name: string, content: string): string {
  const [begin, finish] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`]
  const [start, end] = [page.indexOf(begin), page.indexOf(finish)]
  if (start === -1 || end < start) throw new Error(`the page lacks ${begin} and ${finish}`)
  return `${page.slice(0, start + begin.length)}\n${content}\n${page.slice(end)}`
}
