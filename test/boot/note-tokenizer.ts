/** Loaded into a gateway ahead of its own code: says of each port that is opened whether the tokenizer was there by then. */
import { plugin } from 'bun'

let isLoaded = false

plugin({
  name: 'note-tokenizer',
  setup(build) {
    build.onLoad({ filter: /gpt-tokenizer.*bpeRanks.*o200k_base\.js$/ }, async ({ path }) => {
      isLoaded = true
      return { contents: await Bun.file(path).text(), loader: 'js' }
    })
  },
})

const serve = Bun.serve
Bun.serve = ((options: Parameters<typeof serve>[0]) => {
  process.stderr.write(`a port is opened ${isLoaded ? 'with' : 'without'} the tokenizer\n`)
  return serve(options)
}) as typeof serve
