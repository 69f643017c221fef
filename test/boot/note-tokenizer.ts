/** Loaded into a gateway ahead of its own code, in the thread that serves: says so where that one loads the tokenizer. */
import { plugin } from 'bun'

plugin({
  name: 'note-tokenizer',
  setup(build) {
    build.onLoad({ filter: /gpt-tokenizer.*bpeRanks.*o200k_base\.js$/ }, async ({ path }) => {
      process.stderr.write('the thread that serves loads the tokenizer\n')
      return { contents: await Bun.file(path).text(), loader: 'js' }
    })
  },
})
