/** Signatures beside those of botocore, AWS’ own Python library, for the same calls at the same moments. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { preparePython } from '@test/clients/python/environment'
import { CALLS, signatureOf } from './signed-calls'

setDefaultTimeout(300_000)

const python = await preparePython('aws', (line) => process.stderr.write(`${line}\n`))

test.skipIf(!python)('E9: every call is signed as botocore signs it', async () => {
  const running = Bun.spawn([python ?? '', join(import.meta.dir, 'botocore_signatures.py')], {
    stdin: new Blob([JSON.stringify(CALLS)]),
    stderr: 'inherit',
  })
  const theirs: Record<string, string>[] = JSON.parse(await new Response(running.stdout).text())
  expect(theirs).toHaveLength(CALLS.length)
  expect(await Promise.all(CALLS.map(signatureOf))).toEqual(theirs)
})
