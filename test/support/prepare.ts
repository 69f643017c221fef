/** What `bun run test` does before the first test: brings what no test could wait for. */
import { preparePython } from '@test/clients/python/environment'
import { prepareChromium } from './chromium'
import { preparePrograms } from './debian'

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

await prepareChromium(say)
await preparePrograms(say)
await preparePython('sdks', say)
await preparePython('judges', say)
