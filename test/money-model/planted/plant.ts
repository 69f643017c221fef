/** Plants one bug while its file is loaded; nothing is written. For `bun test --preload`, with PLANTED_BUG in the environment. */
import { join } from 'node:path'
import { OUR_ENVIRONMENT } from '@test/support/bare-environment'
import { plugin } from 'bun'
import { PLANTED_BUGS } from './bugs'

const ROOT = join(import.meta.dir, '..', '..', '..', 'src')
const bug = PLANTED_BUGS.find(({ name }) => name === OUR_ENVIRONMENT.PLANTED_BUG)
if (!bug) throw new Error('PLANTED_BUG names no bug')
const path = join(ROOT, bug.path)
const text = await Bun.file(path).text()
if (text.split(bug.from).length !== 2) throw new Error(`not once in ${bug.path}: ${bug.from}`)
const contents = text.replace(bug.from, () => bug.to)

plugin({
  name: 'planted bug',
  setup(build) {
    build.onLoad({ filter: new RegExp(`${RegExp.escape(path)}$`) }, () => {
      if (path.endsWith('.ts')) return { contents, loader: 'ts' }
      return { exports: { default: contents }, loader: 'object' }
    })
  },
})
