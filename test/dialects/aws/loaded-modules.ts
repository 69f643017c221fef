/**
 * A process of its own: calls the provider whose entry is the argument, and prints whether what signs for AWS was loaded.
 * Run by lazy-signing.test.ts.
 */
import { callTarget, targetOfEntry } from '@test/dialects/provider-entry'

const [, , entry = '{}'] = Bun.argv
const result = await callTarget(targetOfEntry(JSON.parse(entry)), { body: { model: 'm' } })
const isLoaded = Object.keys(require.cache).some((path) => path.includes('aws4fetch'))
process.stdout.write(JSON.stringify({ kind: result.kind, isLoaded }))
