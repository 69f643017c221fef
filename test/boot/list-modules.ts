/** Loaded ahead of a program: writes the path of every file of a package that it loads from then on. */
import { plugin } from 'bun'

plugin({
  name: 'list-modules',
  setup(build) {
    build.onLoad({ filter: /\/node_modules\/.*\.(js|cjs|mjs|ts|json)$/ }, async ({ path }) => {
      process.stderr.write(`${path}\n`)
      return { contents: await Bun.file(path).text(), loader: path.endsWith('.json') ? 'json' : 'js' }
    })
  },
})
