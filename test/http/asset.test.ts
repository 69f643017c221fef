/** Dashboard files as they are served: not sent again to a browser that has the current version. */
import { expect, test } from 'bun:test'
import { assetResponse, createAsset } from '@/http/asset'

const file = await createAsset('text/css', new TextEncoder().encode('body { color: red }'))
const other = await createAsset('text/css', new TextEncoder().encode('body { color: blue }'))

test('different files have different entity tags, equal files the same', async () => {
  expect(file.tag).not.toBe(other.tag)
  expect((await createAsset('text/css', file.body)).tag).toBe(file.tag)
})

test.each([
  ['the tag', file.tag, 304],
  ['the tag as a strong tag', file.tag.slice(2), 304],
  ['a list that contains the tag', `"a", ${file.tag} , W/"b"`, 304],
  ['anything', '*', 304],
  ['another tag', other.tag, 200],
  ['a part of the tag', file.tag.slice(3, -1), 200],
  ['nothing', undefined, 200],
])('a page file is answered as a 304 or in full for the if-none-match value: %s', async (_, named, status) => {
  const request = new Request('http://localhost/', { headers: named === undefined ? {} : { 'if-none-match': named } })
  const response = assetResponse(file, request, { 'cache-control': 'no-cache' })
  expect([response.status, (await response.text()).length]).toEqual([status, status === 304 ? 0 : file.body.length])
  expect([response.headers.get('etag'), response.headers.get('cache-control')]).toEqual([file.tag, 'no-cache'])
  expect(response.headers.get('content-type')).toBe(status === 304 ? null : 'text/css')
})
