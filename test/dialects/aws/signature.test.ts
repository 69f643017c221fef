/** AWS signatures: examples that botocore made, and the cache of derived keys. */
import { expect, test } from 'bun:test'
import { CALLS, signatureOf } from './signed-calls'

/** By botocore 1.44.4, of the calls at these places of the list. */
const BY_BOTOCORE = [
  [0, 'f2c9ccd81badf2aad10d448b79a398bb699174e1293bc118e1214e58d97e11e0'],
  [5, 'b129fa9709f5085166333139cd8e5eb214762f2e6abbd897f52b1ba530ba437a'],
  [18, '4c4d5fed74380d62a5b3623c339e452b2ccdb8389475fa6dbb0099e568511f90'],
  [27, 'a358fe45d349d62e54ef868562b5e0d7dcd84fe72addce7dcdb3ed5fe6d1e862'],
  [31, 'c82137dcda80908037bf38154e683e6469f55bca9ce3ec0b5410cd8cf1a3f717'],
  [44, '9798dada26c6f04f0b125f3140f5f81ffabda8ca307ae53a615a508903682033'],
  [59, '3cd0720968304065ca7984cf2a152f3a19ec883b8951956e1eb414d7e11ffd1a'],
] as const

test.each(BY_BOTOCORE)('E9: call %p gets the same signature as by botocore', async (place, signature) => {
  const call = CALLS[place]
  if (!call) throw new Error('no such call')
  const { authorization = '' } = await signatureOf(call)
  expect(authorization.split('Signature=')[1]).toBe(signature)
})

test('another day, region or service gives another signing key', async () => {
  const [call] = CALLS
  if (!call) throw new Error('no call')
  const others = [{ atMs: call.atMs + 86_400_000 }, { region: 'eu-west-2' }, { service: 'sts' }, { body: '[]' }]
  const all = await Promise.all(
    [{}, ...others].map(async (change) => (await signatureOf({ ...call, ...change })).authorization),
  )
  expect(new Set(all).size).toBe(all.length)
})
