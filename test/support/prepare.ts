/** What `bun run test` does before the first test: brings what no test could wait for. */
import { prepareChromium } from './chromium'

await prepareChromium((line) => process.stderr.write(`${line}\n`))
