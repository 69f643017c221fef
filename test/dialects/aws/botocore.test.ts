/** AWS signatures compared with botocore, AWS’ own Python library, for the same calls at the same time. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { preparePython } from '@test/clients/python/environment'
import { bedrockKey } from '@/dialects/aws/signature'
import { CALLS, signatureOf } from './signed-calls'

const python = await preparePython('aws', (line) => process.stderr.write(`${line}\n`))

test.skipIf(!python)('E9: calls, and the URL inside a Bedrock key, are signed as botocore signs them', async () => {
  const running = Bun.spawn([python ?? '', join(import.meta.dir, 'botocore_signatures.py')], {
    stdin: new Blob([JSON.stringify(CALLS)]),
    stderr: 'inherit',
  })
  const { signed, presigned }: Said = JSON.parse(await new Response(running.stdout).text())
  expect(signed).toHaveLength(CALLS.length)
  expect(await Promise.all(CALLS.map(signatureOf))).toEqual(signed)
  const keys = await Promise.all(
    CALLS.map(({ url: _, body: __, service: ___, region, atMs, ...credentials }) =>
      bedrockKey(credentials, region, atMs),
    ),
  )
  expect(keys.map(queryOf)).toEqual(presigned.map((url) => [...new URL(`${url}&Version=1`).searchParams].sort()))
})

type Said = { signed: Record<string, string>[]; presigned: string[] }

/** What the address says that a key is, in an order of its own. */
function queryOf(key: string) {
  const address = Buffer.from(key.replace('bedrock-api-key-', ''), 'base64').toString()
  return [...new URL(`https://${address}`).searchParams].sort()
}
